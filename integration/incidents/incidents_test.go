package incidents

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"fastbowlinglab/shared/retry"
)

var out = flag.String("incidents.out", "", "file for the table and the JSON lines")

func TestMain(m *testing.M) {
	flag.Parse()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	retry.DefaultRand = func() float64 { return 1 }
	os.Exit(m.Run())
}

func TestIncidents(t *testing.T) {
	var rows []Row
	for _, play := range []func(*testing.T, bool) Row{A, B, C} {
		for _, guards := range []bool{false, true} {
			rows = append(rows, play(t, guards))
		}
	}
	text := table(rows)
	t.Logf("\n%s", text)
	if *out != "" {
		if err := os.WriteFile(*out, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if t.Failed() || t.Skipped() {
		return
	}
	aOff, aOn, bOff, bOn, cOff, cOn := rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
	for _, c := range []struct {
		what string
		ok   bool
		row  Row
	}{
		{"A off: five pairs of model calls, a report demoted and refunded, two mails", aOff.ModelCalls == 10 && aOff.Ends > 2 && aOff.Refunds >= 1 && aOff.Notices >= 2, aOff},
		{"A on: two calls, one end, no refund, one notice", aOn.ModelCalls == 2 && aOn.Ends == 1 && aOn.Refunds == 0 && aOn.Notices == 1, aOn},
		{"B off: near 16 a second", bOff.PeakPerS >= 15 && bOff.Rows == 1000, bOff},
		{"B on: at most 10 a second", bOn.PeakPerS <= 10 && bOn.PeakPerS > 0 && bOn.Rows == 1000 && strings.Contains(bOn.Note, "refused"), bOn},
		{"C off: more than 200 rows", cOff.Rows > 200, cOff},
		{"C on: 200 rows", cOn.Rows == 200, cOn},
	} {
		if !c.ok {
			t.Errorf("%s: got %+v", c.what, c.row)
		}
	}
}

func table(rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-6s %11s %5s %7s %7s %10s %5s  %s\n", "incident", "guards", "model_calls", "ends", "refunds", "notices", "peak_per_s", "rows", "note")
	for _, r := range rows {
		fmt.Fprintf(&b, "%-8s %-6s %11d %5d %7d %7d %10d %5d  %s\n", r.Incident, r.Guards, r.ModelCalls, r.Ends, r.Refunds, r.Notices, r.PeakPerS, r.Rows, r.Note)
	}
	for _, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // strings and numbers
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}
