// Command page writes the web page for a deployment into a folder, from what the
// deploy printed (cdk deploy --outputs-file), and says how to serve it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

func main() {
	outputs := flag.String("outputs", "outputs.json", "the `file` that cdk deploy --outputs-file wrote")
	dir := flag.String("out", ".local/page", "the `folder` to write the page into")
	flag.Parse()
	if err := write(os.Stdout, *outputs, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func write(out io.Writer, outputs, dir string) error {
	page, err := read(outputs)
	if err != nil {
		return err
	}
	if err := web.Write(dir, page); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote the page into %s; put its files at %s, with these headers on each:\n\n", dir, page.App)
	headers := web.Headers(page)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(out, "  %s: %s\n", name, headers[name])
	}
	return nil
}

// read puts the page together from the outputs of all stacks.
func read(path string) (names.Page, error) {
	var page names.Page
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return page, fmt.Errorf("%w; cdk deploy --all --outputs-file %s writes it", err, path)
	}
	if err != nil {
		return page, err
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(b, &stacks); err != nil {
		return page, fmt.Errorf("%s is not what cdk deploy --outputs-file writes: %w", path, err)
	}
	found := map[string]string{}
	for _, outputs := range stacks {
		maps.Copy(found, outputs)
	}
	if found[names.PageOutput] == "" {
		return page, fmt.Errorf("%s has no output %s: set appUrl in cdk.json and deploy again", path, names.PageOutput)
	}
	err = json.Unmarshal([]byte(found[names.PageOutput]), &page)
	if page.API = found[names.APIOutput]; err == nil {
		err = page.Check()
	}
	if err != nil {
		return page, fmt.Errorf("%s: outputs %s and %s: %w", path, names.PageOutput, names.APIOutput, err)
	}
	return page, nil
}
