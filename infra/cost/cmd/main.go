// Command cmd prints what the templates in a folder cost.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"fastbowlinglab/infra/cost"
)

func main() {
	dir := flag.String("out", "cdk.out", "folder with the synthesised templates")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	p, u, err := cost.Load()
	if err != nil {
		return err
	}
	all, err := cost.Read(dir)
	if err != nil {
		return err
	}
	idle := cost.Idle(p, all)
	each, err := cost.Analysis(p, u, all)
	if err != nil {
		return err
	}
	fmt.Printf("%s, list prices of %s, %s\n", p.Region, p.AsOf, p.Currency)
	show("idle, a month", "%9.2f", idle)
	show("one analysis", "%9.5f", each)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"idle_usd_month": round(cost.Sum(idle), 100), "analysis_usd": round(cost.Sum(each), 100000), "as_of": p.AsOf, "region": p.Region})
}

func show(title, format string, items []cost.Item) {
	fmt.Printf("\n%s\n", title)
	for _, i := range append(items, cost.Item{What: "total", USD: cost.Sum(items)}) {
		fmt.Printf("  %-58s"+format+"\n", i.What, i.USD)
	}
}

func round(v, parts float64) float64 { return float64(int(v*parts+0.5)) / parts }
