package motion

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/motion/tracktest"
)

// reading is what the model reads of an elbow at release, before its known offset is
// taken off, and what the elbow truly is in the picture.
type reading struct{ got, want float64 }

// elbowReadings gives those of every rendered clip whose arm is in the picture, of
// arms on the near side and on the far side.
func elbowReadings(t *testing.T) (near, far []reading) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		tr := readTruth(t, "testdata/"+name+".truth.json")
		if tr.Label != "bowling" || tr.Varied == "arm cut off" {
			continue
		}
		b, d := mustClean(t, tracktest.Read(t, f)).clearest()
		s, m := b.study(d), marks(d.arm)
		e, ok := s.b.angleOf(m.shoulder, m.elbow, m.wrist).at(d.release, s.b.window(0.036), 2)
		if !ok {
			t.Fatalf("%s: the elbow is not seen at release", name)
		}
		r := reading{e.value, tr.Values["elbow_angle release"]}
		if s.farArm() {
			far = append(far, r)
		} else {
			near = append(near, r)
		}
	}
	return near, far
}

// TestElbowReadingsFollowTheElbow shows why a near elbow is measured and a far one is
// not: whether what is read goes with what is true.
//
//	go test ./shared/motion -run TestElbowReadings -v
func TestElbowReadingsFollowTheElbow(t *testing.T) {
	near, far := elbowReadings(t)
	for side, v := range map[string][]reading{"near": near, "far": far} {
		var got, want []float64
		for _, r := range v {
			got, want = append(got, r.got), append(want, r.want)
		}
		t.Logf("%s: %d clips, read %.0f to %.0f, true %.0f to %.0f, correlation %.2f", side, len(v),
			quantile(got, 0), quantile(got, 1), quantile(want, 0), quantile(want, 1), correlation(got, want))
		if c := correlation(got, want); side == "near" && c < 0.6 {
			t.Errorf("the near elbow's reading does not go with the elbow: correlation %.2f", c)
		}
	}
}

// correlation is Pearson's.
func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx, yy, xy = xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my), xy+(x[i]-mx)*(y[i]-my)
	}
	return xy / math.Sqrt(xx*yy)
}
