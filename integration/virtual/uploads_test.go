package virtual_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// What was confirmed stays what is analysed, and can be analysed again for as long as
// clips are kept, although another was uploaded over it: by a second tap, or by
// whoever has the form.
func TestAClipUploadedOverIsKept(t *testing.T) {
	begun(t, virtual.Options{}, func(ctx context.Context, c *virtual.Cloud, id string) {
		if err := c.Put(ctx, names.ClipKey(id, 0), []byte("other")); err != nil {
			t.Error(err)
			return
		}
		s := ended(ctx, t, c, id, 4*time.Hour)
		if s.Row.Status != analysis.Ready {
			t.Errorf("ended as %s %s", s.Row.Status, s.Row.Reason)
		}
		wait(ctx, 3*24*time.Hour)
		r, err := c.API(ctx, virtual.Ask{Route: "POST /v1/analyses/{analysis_id}/rerun", Analysis: id, Key: "again"})
		if err != nil || r.Status != http.StatusCreated {
			t.Errorf("a rerun after three days: %d %s, %v", r.Status, r.Code(), err)
		}
	})
}
