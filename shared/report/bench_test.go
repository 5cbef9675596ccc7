package report

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"
)

// BenchmarkThreeClips prints what a report of three clips costs, as a JSON line:
// processor seconds, which are those on one core, and bytes.
func BenchmarkThreeClips(b *testing.B) {
	r := reporter(b)
	in := sample(b, "bowler", "variants/bowler_left_arm", "variants/bowler_portrait")
	var size, n int
	begun := cpuTime(b)
	for b.Loop() {
		pdf, _, err := r.Build(context.Background(), in)
		if err != nil {
			b.Fatal(err)
		}
		size, n = len(pdf), n+1
	}
	each := (cpuTime(b) - begun).Seconds() / float64(n)
	b.ReportMetric(float64(size)/1e6, "MB")
	line, err := json.Marshal(map[string]any{"bench": "report_three_clips", "cpu_s": math.Round(each*100) / 100, "pdf_bytes": size, "limit_s": 5, "limit_bytes": maxPDF})
	if err != nil {
		b.Fatal(err)
	}
	fmt.Println(string(line))
}

// maxPDF is the promised size of a report of three clips.
const maxPDF = 3_000_000

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
