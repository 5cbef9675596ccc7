// Command fonts copies the report's fonts, with their licences, out of the npm
// packages into the flat folder that FONTS_DIR names.
package main

import (
	"flag"
	"fmt"
	"os"

	"fastbowlinglab/shared/report"
)

func main() {
	from := flag.String("from", "node_modules/@expo-google-fonts", "folder of the npm packages")
	to := flag.String("to", "", "folder to copy into")
	flag.Parse()
	if *to == "" {
		fmt.Fprintln(os.Stderr, "fonts: -to is needed")
		os.Exit(2)
	}
	missing, err := report.InstallFonts(*from, *to)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("copied %d of the report's %d fonts into %s\n", len(report.Fonts)-len(missing), len(report.Fonts), *to)
}
