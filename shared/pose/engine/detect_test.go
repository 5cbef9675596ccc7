package engine_test

import (
	"image"
	"image/draw"
	"testing"

	"fastbowlinglab/shared/media"
)

// TestDetectReadsAnyPicture: what the precheck asks for is found in stills as they are
// decoded and in any other kind of picture alike, and nobody in an empty one.
func TestDetectReadsAnyPicture(t *testing.T) {
	e, clip := open(t, ""), root(t, "integration", "samples", "bowler.mp4")
	info, err := media.Probe(t.Context(), clip, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	frames, err := media.Sample(t.Context(), clip, info, 1, 1024)
	if err != nil {
		t.Fatal(err)
	}
	still := frames[0].Image()
	other := image.NewNRGBA(still.Rect)
	draw.Draw(other, other.Rect, still, still.Rect.Min, draw.Src)

	people, err := e.Detect(still, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if len(people) == 0 {
		t.Fatal("nobody is found in a still of the sample")
	}
	again, err := e.Detect(other, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != len(people) || again[0] != people[0] {
		t.Errorf("in another kind of picture: %v, not %v", again, people)
	}
	if nobody, err := e.Detect(image.NewRGBA(still.Rect), 0.5); err != nil || len(nobody) != 0 {
		t.Errorf("in an empty picture: %v, %v", nobody, err)
	}
}
