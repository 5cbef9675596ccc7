package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
)

func clipFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func kinds(es []credit.Entry) string {
	var ks []string
	for _, e := range es {
		ks = append(ks, string(e.Kind))
	}
	return strings.Join(ks, " ")
}

const (
	create  = "POST /v1/analyses"
	confirm = "POST /v1/analyses/{id}/confirm"
	look    = "GET /v1/analyses/{id}"
	grant   = "POST /v1/operator/grants"
	store   = "POST /bucket"
	report  = "GET /v1/analyses/{id}/report"
	fetch   = "GET /bucket/{id}/{file}"
)

func TestDelivered(t *testing.T) {
	b := newBackend(t)
	cfg := b.config(clipFile(t, "bowler.mp4", "frames"))
	s, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != "ready" || kinds(s.Entries) != "grant reserve" || s.Balance != 0 || s.Replayed || len(s.Bill.Lines) != 2 {
		t.Errorf("%s, ledger %q, balance %d, replayed %v, %d calls", s.Status, kinds(s.Entries), s.Balance, s.Replayed, len(s.Bill.Lines))
	}
	for path, want := range map[string]string{s.ReportPDF: "the report.pdf", s.ReportJSON: "the report.json"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want || !strings.Contains(path, filepath.Join(cfg.Dir, "out", s.AnalysisID)) {
			t.Errorf("%s holds %q (%v)", path, got, err)
		}
	}
	if string(b.uploaded[s.AnalysisID]) != "frames" {
		t.Errorf("uploaded %q", b.uploaded[s.AnalysisID])
	}
}

func TestTheSameClipAgainIsTheSameAnalysis(t *testing.T) {
	b := newBackend(t)
	cfg := b.config(clipFile(t, "bowler.mp4", "frames"))
	first, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	renamed := cfg
	renamed.Clip = clipFile(t, "copy of bowler.MOV", "frames")
	for _, c := range []Config{cfg, renamed} {
		again, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if again.AnalysisID != first.AnalysisID || !again.Replayed || kinds(again.Entries) != "grant reserve" || again.ReportPDF == "" {
			t.Errorf("analysis %s (first %s), replayed %v, ledger %q", again.AnalysisID, first.AnalysisID, again.Replayed, kinds(again.Entries))
		}
	}
	if b.count(store) != 1 || b.count(grant) != 1 {
		t.Errorf("%d uploads and %d grants, want one of each", b.count(store), b.count(grant))
	}
	cfg.Key = "second"
	other, err := Run(t.Context(), cfg)
	if err != nil || other.AnalysisID == first.AnalysisID {
		t.Errorf("with another key: analysis %s (%v), the first was %s", other.AnalysisID, err, first.AnalysisID)
	}
}

// TestLostAnswers: each request of the way in is disturbed; one analysis, one
// credit and one upload's content come of it all the same.
func TestLostAnswers(t *testing.T) {
	for _, at := range []string{create, grant, store, confirm, look, report, fetch, "GET /v1/credits"} {
		for _, f := range []fault{dropBefore, dropAfter, status500, status429} {
			t.Run(at+" "+string(f), func(t *testing.T) {
				if at == store && f == status429 || at == fetch && f == status429 {
					t.Skip("storage says 503 SlowDown, not 429")
				}
				b := newBackend(t)
				b.faults[at] = []fault{f, f}
				s, err := Run(t.Context(), b.quick(clipFile(t, "bowler.mp4", "frames")))
				if err != nil {
					t.Fatal(err)
				}
				if s.Status != "ready" || len(b.rows) != 1 || kinds(b.entries) != "grant reserve" || s.ReportJSON == "" {
					t.Errorf("%s, %d analyses, ledger %q, report %q", s.Status, len(b.rows), kinds(b.entries), s.ReportJSON)
				}
			})
		}
	}
}

// quick is config with next to no wait between tries.
func (b *backend) quick(clip string) Config {
	c := b.config(clip)
	c.retryWait = time.Millisecond
	return c
}

func TestAConfirmWhoseAnswerIsLostForGoodIsReadBack(t *testing.T) {
	b := newBackend(t)
	b.faults[confirm] = []fault{dropAfter, dropAfter, dropAfter, dropAfter, dropAfter, dropAfter}
	s, err := Run(t.Context(), b.quick(clipFile(t, "bowler.mp4", "frames")))
	if err != nil || s.Status != "ready" {
		t.Errorf("%s (%v): the confirm had come through", s.Status, err)
	}
}

func TestARunThatBrokeOffIsTakenUp(t *testing.T) {
	b := newBackend(t)
	cfg := b.quick(clipFile(t, "bowler.mp4", "frames"))
	b.faults[store] = []fault{status500, status500, status500, status500, status500}
	first, err := Run(t.Context(), cfg)
	if err == nil || first.AnalysisID == "" || !strings.Contains(err.Error(), "storage answered 500") {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := Run(t.Context(), cfg)
	if err != nil || second.AnalysisID != first.AnalysisID || second.Status != "ready" || kinds(second.Entries) != "grant reserve" {
		t.Errorf("%s (%v), ledger %q, want the same analysis delivered", second.Status, err, kinds(second.Entries))
	}
}

func TestOtherEnds(t *testing.T) {
	for _, end := range []analysis.Status{analysis.Rejected, analysis.Failed} {
		b := newBackend(t)
		b.end, b.reason = end, "media_empty"
		s, err := Run(t.Context(), b.config(clipFile(t, "empty.mp4", "")))
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != string(end) || s.Reason != "media_empty" || kinds(s.Entries) != "grant reserve refund" || s.ReportPDF != "" {
			t.Errorf("%+v", s)
		}
		if got, ok := b.uploaded[s.AnalysisID]; !ok || len(got) != 0 {
			t.Error("the empty file did not arrive")
		}
		if b.count(report) != 0 {
			t.Error("a report was asked for")
		}
	}
}

func TestNoEndInTime(t *testing.T) {
	b := newBackend(t)
	b.looks = 1 << 30
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.third = cancel // the time is up while it is followed, on a machine of any speed
	cfg := b.config(clipFile(t, "bowler.mp4", "frames"))
	s, err := Run(ctx, cfg)
	if !errors.Is(err, ErrStillOpen) || s.Status != "analysing" || s.AnalysisID == "" || s.Seconds <= 0 {
		t.Errorf("%s after %.1f s, %v", s.Status, s.Seconds, err)
	}
	b.mu.Lock()
	b.looks = 0
	b.mu.Unlock()
	again, err := Run(t.Context(), cfg)
	if err != nil || again.AnalysisID != s.AnalysisID || again.Status != "ready" || again.Replayed || b.count(store) != 1 {
		t.Errorf("taken up: %s (%v), said to have ended before: %v, %d uploads", again.Status, err, again.Replayed, b.count(store))
	}
}

func TestRefusalsAreToldInTheAPIsWords(t *testing.T) {
	b := newBackend(t)
	cfg := b.config(clipFile(t, "bowler.mp4", "frames"))
	cfg.Operator = nil
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "402: There is no credit left.") {
		t.Errorf("without an operator: %v", err)
	}
	cfg = b.config(cfg.Clip)
	b.faults[grant] = []fault{denied}
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "403: Operators only.") {
		t.Errorf("refused grant: %v", err)
	}
}

func TestNoSecretInAnError(t *testing.T) {
	for _, at := range []string{store, fetch} {
		b := newBackend(t)
		b.faults[at] = []fault{dropBefore, dropBefore, dropBefore, dropBefore, dropBefore, dropBefore}
		_, err := Run(t.Context(), b.quick(clipFile(t, "bowler.mp4", "frames")))
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", at, err)
		}
	}
}

func TestWhatCannotBeReadDoesNotHideTheRest(t *testing.T) {
	b := newBackend(t)
	b.faults["GET /v1/usage"] = []fault{denied}
	var out bytes.Buffer
	cfg := b.config(clipFile(t, "bowler.mp4", "frames"))
	cfg.Screen = &Screen{w: &out, told: map[string]bool{}, now: time.Now}
	s, err := Run(t.Context(), cfg)
	if err != nil || s.ReportPDF == "" || !strings.Contains(out.String(), "the model calls cannot be read") {
		t.Errorf("%v, report %q, screen:\n%s", err, s.ReportPDF, out.String())
	}
}

func TestClipsThatCannotBeSent(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.mp4")
	f, err := os.Create(huge)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(names.MaxClipBytes+1), f.Close()); err != nil { // a hole: no disk is used
		t.Fatal(err)
	}
	secret := clipFile(t, "secret.mp4", "x")
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"", "no clip is named"},
		{filepath.Join(dir, "none.mp4"), "there is no file"},
		{dir, "is a folder"},
		{"/dev/null", "is not a regular file"},
		{huge, "a clip may have at most 512.0 MiB"},
		{secret, "no permission to read"},
	} {
		if c.path == secret && os.Getuid() == 0 {
			continue // root reads everything
		}
		if _, err := OpenClip(c.path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
	c, err := OpenClip(clipFile(t, "A.MOV", "x"))
	if err != nil || c.Type != "video/quicktime" || c.Size != 1 || len(c.SHA256) != 64 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAClipThatShrinksIsNotSentCut(t *testing.T) {
	b := newBackend(t)
	path := clipFile(t, "bowler.mp4", "frames")
	clip, err := OpenClip(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	c := newClient(b.URL)
	err = c.sendClip(t.Context(), upload{URL: b.URL + "/bucket", Fields: map[string]string{"key": "clips/x/0", "policy": "p"}}, clip, nil)
	if err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Errorf("%v", err)
	}
	if len(b.uploaded) != 0 {
		t.Error("half a clip was stored")
	}
}
