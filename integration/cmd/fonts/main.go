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
	if _, err := report.InstallFonts(*from, *to); err != nil { // optional packages may be missing
		fmt.Fprintln(os.Stderr, "fonts:", err)
		os.Exit(1)
	}
}
