package main

import (
	"strings"
	"testing"
)

func TestSkipsForWantOfSetUpAreFound(t *testing.T) {
	const events = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:12: .local/bin/api/bootstrap is missing: run ` + "`make functions`" + ` first\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: chromium is not installed\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:7: dynoxide is not installed (npm install)\n"}
{"Action":"pass","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestD","Output":"--- SKIP: TestD (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestD"}
{"Action":"skip","Package":"q"}
`
	all, err := read(strings.NewReader(events))
	if err != nil || len(all) != 3 {
		t.Fatalf("%d skips, %v; want TestA, TestB and TestD", len(all), err)
	}
	for i, want := range []bool{false, true, false} { // a skip without a word is no better
		if got := reason(all[i].message) != ""; got != want {
			t.Errorf("%s (%s) may be skipped: %t, want %t", all[i].test, all[i].message, got, want)
		}
	}
	if _, err := read(strings.NewReader("no JSON\n")); err == nil {
		t.Error("a file that is no JSON is taken")
	}
}

func TestWhatSetUpInstallsIsNotAllowed(t *testing.T) {
	for _, message := range []string{"ffmpeg is not installed", "skipped: /x/node_modules/@mediapipe/pose is not installed (npm ci)",
		"font NotoSans_400Regular.ttf is not installed", "pdftotext is not installed (Debian: poppler-utils)", ".local/dist is missing: run `make dist` first",
		"asl-validator is not installed; run: npm ci", "dynoxide is not installed (npm install)", "integration/samples/bowler.mp4 is not here", ""} {
		if why := reason(message); why != "" {
			t.Errorf("%q is allowed: %s", message, why)
		}
	}
	for _, message := range []string{"../shared/cases is not here", "field case x.json is missing: no such file", "skipped: cases/media/a.mov is not here",
		"the AWS CLI is not installed", "aws is not installed", "records only with -record", "skipped: media/v1.mp4 is not here", "s2_tamil.json is not here"} {
		if reason(message) == "" {
			t.Errorf("%q is not allowed", message)
		}
	}
}
