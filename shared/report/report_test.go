package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
)

func TestThreeClips(t *testing.T) {
	r := reporter(t)
	in := sample(t, "bowler", "variants/bowler_left_arm", "variants/bowler_portrait", "")
	begin := time.Now()
	pdf, js := build(t, r, in)
	took := time.Since(begin)
	t.Logf("report of 3 clips: %d kB of PDF, %d kB of JSON, %.2f s", len(pdf)/1000, len(js)/1000, took.Seconds())
	if len(pdf) > maxPDF {
		t.Errorf("the PDF has %d bytes, at most 3 MB are wanted", len(pdf))
	}
	text := words(t, pdf)
	for _, want := range []string{
		"Kavin Sridharan", "1 April 2026, 02:00 (Asia/Colombo, UTC+05:30)", "Right-arm bowler", "Left-arm bowler",
		"Written by rules, not by a model", reason.MediaCut.Sentence(), "IMG_0042.MOV", "Front-foot contact",
		"The front leg is braced", "Wall drill for the braced leg", "Not measured:", "ONNX Runtime 1.30.0, full",
		"nothing about whether an action is legal", "Warm up first", in.AnalysisID,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the PDF does not say %q", want)
		}
	}
	inMargins(t, pdf)
	if n := len(regexp.MustCompile(`/Type /Page `).FindAll(pdf, -1)); n < 9 || n > 12 {
		t.Errorf("%d pages, want two a clip, the texts, the clips, the end and little more", n)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	in := sample(t, "bowler")
	in.Athlete = "محمد شاہین 🏏 கவின்"
	pdf1, js1 := build(t, reporter(t), in)
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("LANG", "ar_AE.UTF-8")
	pdf2, js2 := build(t, reporter(t), in)
	if !bytes.Equal(pdf1, pdf2) || !bytes.Equal(js1, js2) {
		t.Error("the same input gave different files")
	}
	if bytes.Contains(pdf1, []byte(time.Now().UTC().Format("D:20060102"))) {
		t.Error("the PDF holds today's date")
	}
}

// Where and with what a picture was taken must not reach the report.
// Field case 48: no place, camera or date of the file comes through.
func TestCameraDataDoesNotLeak(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, image.NewRGBA(image.Rect(0, 0, 640, 480)), nil); err != nil {
		t.Fatal(err)
	}
	secret := "GPS +06.9271+079.8612 iPhone of Kavin"
	exif := append([]byte{0xFF, 0xE1, 0, byte(2 + len(secret))}, secret...)
	withEXIF := append(append(bytes.Clone(plain.Bytes()[:2]), exif...), plain.Bytes()[2:]...)
	in := short("x")
	in.Result.Clips = []motion.Clip{{Width: 640, Height: 480, Phases: []motion.Phase{{Name: motion.Release, FrameKey: "k", Points: square()}}}}
	in.Frame = func(context.Context, string) ([]byte, error) { return withEXIF, nil }
	pdf, js := build(t, reporter(t), in)
	if !bytes.Contains(pdf, []byte("/DCTDecode")) {
		t.Fatal("the picture is not in the PDF")
	}
	if bytes.Contains(pdf, []byte("GPS")) || bytes.Contains(js, []byte("GPS")) || bytes.Contains(js, []byte(`"k"`)) {
		t.Error("camera data or a storage key reached the report")
	}
}

// square gives landmarks spread over a 640 x 480 picture.
func square() []pose.Point {
	ps := make([]pose.Point, pose.Landmarks)
	for i := range ps {
		ps[i] = pose.Point{X: 250 + float64(i%6)*20, Y: 100 + float64(i/6)*40, Visibility: 1}
	}
	return ps
}

func TestOddInputStillGivesAReport(t *testing.T) {
	r := reporter(t)
	nan, inf, ok := math.NaN(), math.Inf(1), 90.0
	phases := func(ps ...pose.Point) (out []motion.Phase) {
		for i, n := range phaseOrder {
			out = append(out, motion.Phase{Name: n, Time: float64(i), Points: ps})
		}
		return out
	}
	bad := make([]pose.Point, pose.Landmarks)
	for i := range bad {
		bad[i] = pose.Point{X: nan, Y: inf, Visibility: nan}
	}
	at := make([]pose.Point, pose.Landmarks)
	for i := range at {
		at[i] = pose.Point{X: 5, Y: 5, Visibility: 1}
	}
	cases := map[string]motion.Clip{
		"empty":              {},
		"no measures":        {Width: 640, Height: 480, Phases: phases(square()...)},
		"no landmarks":       {Width: 640, Height: 480, Phases: phases()},
		"landmarks NaN":      {Width: 640, Height: 480, Phases: phases(bad...)},
		"landmarks in one":   {Width: 640, Height: 480, Arm: motion.Left, Phases: phases(at...)},
		"few landmarks":      {Width: 640, Height: 480, Phases: phases(square()[:5]...)},
		"phases at one time": {Width: 640, Height: 480, Phases: []motion.Phase{{Name: motion.RunUp}, {Name: motion.Release}}},
		"phase times NaN":    {Phases: []motion.Phase{{Name: motion.RunUp, Time: nan}, {Name: motion.Release, Time: inf}}},
		"unknown phase":      {Phases: []motion.Phase{{Name: "somersault"}}},
		"measures NaN": {Confidence: nan, FrameRate: inf, Duration: nan, Measures: []motion.Measure{
			{Name: motion.ElbowAngle, Phase: motion.Release, Value: nan, Unit: motion.Degrees},
			{Name: "new_measure_of_tomorrow", Value: 1, Band: inf, Unit: "furlongs", Confidence: 7},
			{Name: "", Value: -0.0001, Unit: motion.Degrees, Confidence: -1, Band: -3},
			{Name: strings.Repeat("long_", 40), NotMeasured: strings.Repeat("why ", 200)}}},
		"series": {Series: []motion.Series{
			{Name: "a", Times: []float64{0, nan, 1, 1, 2}, Values: []*float64{&ok, &ok, &nan, nil, &ok}, Band: nan},
			{Name: "b", Times: []float64{0, 1}, Values: []*float64{&ok}},
			{Name: "c", Times: []float64{1e4, 1e4 + 1e-9}, Values: []*float64{&ok, &ok}},
			{Name: "d", Unit: motion.Degrees, Times: []float64{0, 1, 2}, Values: []*float64{nil, nil, nil}}, {}}},
		"size 0": {Width: -5, Height: 1 << 40, Phases: phases(square()...)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := short("Odd")
			in.Result.Clips = []motion.Clip{c, {Index: -3, Refused: "unheard_of"}}
			in.Frame = func(context.Context, string) ([]byte, error) { return []byte("no picture"), nil }
			for i := range in.Result.Clips[0].Phases {
				in.Result.Clips[0].Phases[i].FrameKey = "k"
			}
			pdf, js := build(t, r, in)
			if bytes.Contains(js, []byte("NaN")) || strings.Contains(words(t, pdf), "NaN") {
				t.Error("NaN reached the report")
			}
			validate(t, js)
			inMargins(t, pdf)
		})
	}
}

func TestMissingPictures(t *testing.T) {
	r := reporter(t)
	in := sample(t, "bowler")
	in.Frame = nil
	pdf, _ := build(t, r, in)
	if n := strings.Count(words(t, pdf), "picture not available"); n != 5 {
		t.Errorf("%d of 5 tiles say that there is no picture", n)
	}
	in.Frame = func(context.Context, string) ([]byte, error) { return nil, fmt.Errorf("gone: %w", ErrNoFrame) }
	build(t, r, in)
	down := errors.New("the store does not answer")
	in.Frame = func(context.Context, string) ([]byte, error) { return nil, down }
	if _, _, err := r.Build(t.Context(), in); !errors.Is(err, down) {
		t.Errorf("a store that does not answer gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in.Frame = nil
	if _, _, err := r.Build(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v", err)
	}
}

func TestAllClipsRefused(t *testing.T) {
	in := short("Refused")
	for i, c := range []reason.Code{reason.NotBowling, reason.MediaCut} {
		in.Result.Clips = append(in.Result.Clips, motion.Clip{Index: i, Refused: c})
	}
	pdf, _ := build(t, reporter(t), in)
	text := words(t, pdf)
	for _, want := range []string{"None of the clips could be analysed", reason.NotBowling.Sentence(), reason.MediaCut.Sentence()} {
		if !strings.Contains(text, want) {
			t.Errorf("the PDF does not say %q", want)
		}
	}
}

func TestManyClips(t *testing.T) {
	in := sample(t, "bowler")
	c := in.Result.Clips[0]
	in.Result.Clips, in.ClipNames = nil, nil
	for i := range names.MaxClips + 3 { // more than can be
		c.Index = i
		in.Result.Clips = append(in.Result.Clips, c)
		in.ClipNames = append(in.ClipNames, strings.Repeat("clip_with_a_long_name_", 5)+strconv.Itoa(i)+".mov")
	}
	pdf, js := build(t, reporter(t), in)
	inMargins(t, pdf)
	validate(t, js)
	var f File
	if err := json.Unmarshal(js, &f); err != nil || len(f.Clips) != names.MaxClips {
		t.Errorf("%d clips, %v", len(f.Clips), err)
	}
}

func TestAuthorsAreNamed(t *testing.T) {
	in := short("x")
	in.Findings.Author = aitask.Author{Provider: "bedrock", Model: "some.model-v1", Version: "7"}
	in.Coaching.Author = aitask.Author{Provider: aitask.RulesProvider, Model: "rules", Version: "3"}
	pdf, _ := build(t, reporter(t), in)
	text := words(t, pdf)
	for _, a := range []aitask.Author{in.Findings.Author, in.Coaching.Author} {
		if n := strings.Count(text, a.Credit()); n != 2 {
			t.Errorf("%q is said %d times, want beside the text and at the end", a.Credit(), n)
		}
	}
}

func TestFontsMustBeThePinnedOnes(t *testing.T) {
	need(t, "node_modules", "@expo-google-fonts")
	dir := t.TempDir()
	if _, err := New(dir); err == nil {
		t.Error("an empty folder was taken")
	}
	from, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Fonts {
		b, err := os.ReadFile(filepath.Join(from, filepath.Base(f.Path)))
		if err != nil {
			continue
		}
		if f.Family == baseFamily {
			b = append(b, 0)
		}
		os.WriteFile(filepath.Join(dir, filepath.Base(f.Path)), b, 0o600)
	}
	if _, err := New(dir); err == nil || !strings.Contains(err.Error(), "hash") {
		t.Errorf("another font under the same name gives %v", err)
	}
	if licences, _ := filepath.Glob(filepath.Join(from, "OFL-*.txt")); len(licences) < 9 {
		t.Errorf("%d licences beside the fonts", len(licences))
	}
}

// No glyph that the standing texts need may be missing from the base font: the
// report would fall back to another one for it.
func TestOwnWordsNeedNoFallback(t *testing.T) {
	r := reporter(t)
	pdf, _ := build(t, r, short("Plain"))
	fonts := tool(t, pdf, "pdffonts")
	for _, l := range strings.Split(strings.TrimSpace(fonts), "\n")[2:] {
		if !strings.Contains(l, "+NotoSans-") {
			t.Errorf("a report in English uses %s", l)
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add([]byte(`{"clips":[{"width":100,"height":100,"phases":[{"name":"release","time":1,"points":[{"x":1,"y":2,"v":1}]}]}]}`), "name")
	f.Add([]byte(`{"clips":[{"measures":[{"name":"x","value":1e300,"unit":"degrees"}],"series":[{"times":[0,1],"values":[1,null]}]}]}`), "\u202e")
	r := reporter(f)
	f.Fuzz(func(t *testing.T, result []byte, name string) {
		in := short(name)
		if len(result) > 20000 || len(name) > 500 || json.Unmarshal(result, &in.Result) != nil {
			return
		}
		_, js, err := r.Build(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, js)
	})
}
