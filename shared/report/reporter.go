package report

import (
	"context"
	"fmt"
	"sync"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
	"fastbowlinglab/shared/report/typeset"
)

// Version is the version of the report: of its layout and of report.json.
const Version = 1

// Reporter makes reports. It keeps the fonts it has read, so that a warm
// function reads them once.
type Reporter struct {
	mu    sync.Mutex
	fonts *fontSet
}

// New opens the fonts in a flat folder (see InstallFonts). It fails when the
// base fonts are missing or any file is not the pinned one.
func New(fontsDir string) (*Reporter, error) {
	f, err := openFonts(fontsDir)
	if err != nil {
		return nil, err
	}
	return &Reporter{fonts: f}, nil
}

// Build makes the PDF and the JSON. Missing pictures, empty measures and odd
// text are shown as such; an error means that Frame failed, the context ended,
// or a bug.
func (r *Reporter) Build(ctx context.Context, in Input) (pdfOut, jsonOut []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in = safe(in)
	if jsonOut, err = encode(in); err != nil {
		return nil, nil, err
	}
	if pdfOut, err = r.layOut(ctx, in); err != nil {
		return nil, nil, fmt.Errorf("lay out the report of %s: %w", in.AnalysisID, err)
	}
	return pdfOut, jsonOut, nil
}

func (r *Reporter) layOut(ctx context.Context, in Input) (out []byte, err error) {
	defer pdf.Catch(&err)
	title := "Fast bowling report"
	if in.Athlete != "" {
		title += " for " + in.Athlete
	}
	s := &sheet{ctx: ctx, in: &in, set: typeset.NewSetter(r.fonts), doc: pdf.New(pdf.Info{
		Title: title, Subject: "Analysis " + in.AnalysisID, Producer: fmt.Sprintf("FastBowlingLab report %d", Version),
		Lang: "en-GB", Created: in.Submitted,
	})}
	s.write()
	if s.err == nil {
		s.err = ctx.Err()
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.doc.Bytes()
}

// write lays out all pages.
func (s *sheet) write() {
	clips := s.in.Result.Clips
	usable := 0
	for _, c := range clips {
		if c.Refused == "" {
			usable++
		}
	}
	b := best(clips)
	s.newPage()
	s.cover(b, usable)
	if b >= 0 {
		s.delivery(clips[b])
	}
	s.newPage()
	s.findings()
	s.coaching()
	if usable > 1 {
		var ok []motion.Clip
		for _, c := range clips {
			if c.Refused == "" {
				ok = append(ok, c)
			}
		}
		for i, c := range clips {
			if c.Refused == "" && i != b {
				s.newPage()
				s.clipHead(c)
				s.delivery(c)
			}
		}
		s.newPage()
		s.compare(ok)
	}
	s.clips()
	s.closing()
	s.furniture()
}

// delivery writes a clip's pictures, then its plots and measures on the next
// page.
func (s *sheet) delivery(c motion.Clip) {
	s.pictures(c)
	s.legend()
	s.timeline(c)
	s.newPage()
	rows := s.measureRows(c)
	s.plots(c, measuresHead+tableHeight(rows))
	s.measures(rows)
}
