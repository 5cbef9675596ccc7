package report

import (
	"encoding/json"
	"fmt"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
)

// File is report.json. Its JSON schema is schema/report-v1.schema.json, which a
// test derives from these types and their doc tags.
type File struct {
	Version    int        `json:"version" doc:"version of this format"`
	AnalysisID string     `json:"analysis_id" doc:"id of the analysis"`
	Attempt    int        `json:"attempt" doc:"attempt that made the report, from 1"`
	Revision   int        `json:"revision" doc:"0 as delivered; a report that was made again after the delivery counts from 1"`
	Changed    string     `json:"changed" doc:"what the revision changes; empty as delivered"`
	Athlete    string     `json:"athlete" doc:"name as submitted, made safe to show; may be empty"`
	Submitted  FileTime   `json:"submitted" doc:"when the analysis was submitted"`
	Engine     string     `json:"engine" doc:"inference engine and its version"`
	Model      string     `json:"model" doc:"pose model"`
	Clips      []FileClip `json:"clips" doc:"every clip that was sent in, in order"`
	Findings   FileText   `json:"findings" doc:"what was seen"`
	Coaching   FileDrills `json:"coaching" doc:"what to do about it"`
	Limits     []string   `json:"limits" doc:"what the report does not say"`
}

// FileTime is an instant in UTC and in words in the athlete's zone.
type FileTime struct {
	UTC   string `json:"utc" doc:"RFC 3339, empty when not known"`
	Local string `json:"local" doc:"date and time in the athlete's time zone, with the zone's name"`
	Zone  string `json:"zone" doc:"IANA time zone that local uses"`
}

// FileClip is one clip.
type FileClip struct {
	Index      int           `json:"index" doc:"position in the analysis, from 0"`
	Name       string        `json:"name" doc:"file name as submitted; may be empty"`
	Refused    *FileRefusal  `json:"refused" doc:"why the clip was not used, null when it was"`
	Width      int           `json:"width" doc:"displayed width in pixels"`
	Height     int           `json:"height" doc:"displayed height in pixels"`
	Frames     int           `json:"frames" doc:"frames decoded"`
	DurationS  float64       `json:"duration_s" doc:"length in seconds"`
	FrameRate  float64       `json:"frame_rate" doc:"median frames a second"`
	Arm        string        `json:"arm" doc:"bowling arm: left, right or empty"`
	Travel     string        `json:"travel" doc:"direction of the run-up in the picture: left, right or empty"`
	Confidence float64       `json:"confidence" doc:"that the clip shows a delivery, from 0 to 1"`
	Phases     []FilePhase   `json:"phases" doc:"instants of the delivery"`
	Measures   []FileMeasure `json:"measures" doc:"measured values, and those that could not be measured"`
	Series     []FileSeries  `json:"series" doc:"values over time"`
	Warnings   []string      `json:"warnings" doc:"what to keep in mind about this clip"`
}

// FileRefusal says why a clip was not used.
type FileRefusal struct {
	Code     string `json:"code" doc:"machine-readable reason"`
	Sentence string `json:"sentence" doc:"the same for people"`
}

// FilePhase is an instant of the delivery.
type FilePhase struct {
	Name  string  `json:"name" doc:"run_up, back_foot_contact, front_foot_contact, release or follow_through"`
	TimeS float64 `json:"time_s" doc:"seconds from the first frame; may lie between frames"`
	Frame int     `json:"frame" doc:"nearest frame, from 0"`
	At    string  `json:"at" doc:"seconds from release, as the report writes them; from the first frame without a release"`

	Limbs []FileLimb `json:"limbs" doc:"the skeleton, as lines to draw on the phase's picture"`
}

// FileMeasure is one value with its band.
type FileMeasure struct {
	Name        string   `json:"name" doc:"machine-readable name"`
	Phase       string   `json:"phase" doc:"instant at which it was measured; may be empty"`
	Value       *float64 `json:"value" doc:"null when not measured"`
	Unit        string   `json:"unit" doc:"unit of value and band"`
	Written     string   `json:"written" doc:"value, band and unit as the report's texts write them; empty when not measured"`
	Band        *float64 `json:"band" doc:"half-width of the 95 % band; null when not measured"`
	Confidence  float64  `json:"confidence" doc:"from 0 to 1"`
	NotMeasured string   `json:"not_measured" doc:"why there is no value; empty when there is one"`
	Source      string   `json:"source" doc:"where the definition comes from"`
}

// FileSeries is a value over time.
type FileSeries struct {
	Name   string     `json:"name" doc:"machine-readable name"`
	Unit   string     `json:"unit" doc:"unit of values and band"`
	TimesS []float64  `json:"times_s" doc:"seconds from the first frame, rising"`
	Values []*float64 `json:"values" doc:"one for each time, null where nothing was measured"`
	Band   float64    `json:"band" doc:"half-width of the 95 % band"`
}

// FileAuthor says who wrote a text.
type FileAuthor struct {
	Provider  string `json:"provider" doc:"rules, or where the model runs"`
	Model     string `json:"model" doc:"model, empty for rules"`
	Version   string `json:"version" doc:"version of the rules or the prompt"`
	WrittenBy string `json:"written_by" doc:"the same in a sentence"`
}

// FileText is the findings.
type FileText struct {
	Author  FileAuthor    `json:"author" doc:"who wrote it"`
	Summary string        `json:"summary" doc:"may be empty"`
	Items   []FileFinding `json:"items" doc:"in order of importance"`
}

// FileFinding is one observation.
type FileFinding struct {
	Title    string    `json:"title" doc:"in a few words"`
	Detail   string    `json:"detail" doc:"in sentences"`
	Kind     string    `json:"kind" doc:"strength, work_on, observation or limits"`
	Measures []FileRef `json:"measures" doc:"measures it rests on"`
	Evidence []string  `json:"evidence" doc:"the same in words"`
}

// FileRef names a measure.
type FileRef struct {
	Clip  int    `json:"clip" doc:"index of the clip, from 0"`
	Name  string `json:"name" doc:"the measure's name"`
	Phase string `json:"phase" doc:"instant of the measure; may be empty"`
}

// FileDrills is the coaching.
type FileDrills struct {
	Author  FileAuthor  `json:"author" doc:"who wrote it"`
	Summary string      `json:"summary" doc:"may be empty"`
	Drills  []FileDrill `json:"drills" doc:"in order of importance"`
	Safety  string      `json:"safety" doc:"what to mind while training; may be empty"`
}

// FileDrill is one exercise.
type FileDrill struct {
	Title   string   `json:"title" doc:"name of the drill"`
	Purpose string   `json:"purpose" doc:"what it is for"`
	Steps   []string `json:"steps" doc:"how it is done"`
	Dose    string   `json:"dose" doc:"how often; may be empty"`
	Finding string   `json:"finding" doc:"title of the finding that it answers; may be empty"`
}

// encode makes report.json of safe input. Lists are never null.
func encode(in Input) ([]byte, error) {
	f := File{
		Version: Version, AnalysisID: in.AnalysisID, Attempt: in.Attempt, Revision: in.Revision, Changed: in.Changed, Athlete: in.Athlete,
		Submitted: fileTime(in.Submitted, in.TimeZone), Engine: in.Result.Engine, Model: in.Result.Model,
		Clips:    []FileClip{},
		Findings: FileText{Author: fileAuthor(in.Findings.Author), Summary: in.Findings.Summary, Items: []FileFinding{}},
		Coaching: FileDrills{Author: fileAuthor(in.Coaching.Author), Summary: in.Coaching.Summary, Safety: in.Coaching.Safety, Drills: []FileDrill{}},
		Limits:   limitsText,
	}
	for _, c := range in.Result.Clips {
		f.Clips = append(f.Clips, fileClip(c, in.ClipNames))
	}
	for _, it := range in.Findings.Items {
		ff := FileFinding{Title: it.Title, Detail: it.Detail, Kind: string(it.Kind), Measures: []FileRef{}, Evidence: it.Evidence}
		for _, r := range it.Measures {
			ff.Measures = append(ff.Measures, FileRef(r))
		}
		f.Findings.Items = append(f.Findings.Items, ff)
	}
	for _, d := range in.Coaching.Drills {
		f.Coaching.Drills = append(f.Coaching.Drills, FileDrill{d.Title, d.Purpose, d.Steps, d.Dose, d.Finding})
	}
	out, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode report.json of %s: %w", in.AnalysisID, err)
	}
	return append(out, '\n'), nil
}

func fileTime(t time.Time, zoneName string) FileTime {
	loc, _ := zone(zoneName)
	f := FileTime{Local: when(t, zoneName), Zone: loc.String()}
	if plausible(t) {
		f.UTC = t.UTC().Format(time.RFC3339)
	}
	return f
}

func fileAuthor(a aitask.Author) FileAuthor {
	return FileAuthor{a.Provider, a.Model, a.Version, credit(a)}
}

func fileClip(c motion.Clip, clipNames []string) FileClip {
	f := FileClip{
		Index: c.Index, Width: c.Width, Height: c.Height, Frames: c.Frames, DurationS: c.Duration,
		FrameRate: c.FrameRate, Arm: string(c.Arm), Travel: c.Travel, Confidence: c.Confidence,
		Phases: []FilePhase{}, Measures: []FileMeasure{}, Series: []FileSeries{}, Warnings: c.Warnings,
	}
	if c.Index >= 0 && c.Index < len(clipNames) {
		f.Name = clipNames[c.Index]
	}
	if c.Refused != "" {
		f.Refused = &FileRefusal{string(c.Refused), c.Refused.Sentence()}
	}
	for _, p := range orderedPhases(c) {
		f.Phases = append(f.Phases, FilePhase{string(p.Name), p.Time, p.Frame, relative(c, p), fileLimbs(p.Points, c.Arm)})
	}
	for _, m := range c.Measures {
		fm := FileMeasure{Name: m.Name, Phase: string(m.Phase), Unit: m.Unit, Written: m.Written(), Confidence: m.Confidence, NotMeasured: m.NotMeasured, Source: m.Source}
		if m.NotMeasured == "" {
			fm.Value, fm.Band = &m.Value, &m.Band
		}
		f.Measures = append(f.Measures, fm)
	}
	for _, s := range c.Series {
		f.Series = append(f.Series, fileSeries(s))
	}
	return f
}

func fileSeries(s motion.Series) FileSeries {
	f := FileSeries{Name: s.Name, Unit: s.Unit, Band: s.Band, TimesS: []float64{}, Values: []*float64{}}
	f.TimesS = append(f.TimesS, s.Times...)
	f.Values = append(f.Values, s.Values...)
	return f
}
