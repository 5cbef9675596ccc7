package pdf

import (
	"bytes"
	"fmt"
	"math"

	"fastbowlinglab/shared/report/typeset"
)

// Page is a page being drawn on.
type Page struct {
	W, H  float64
	doc   *Doc
	ref   ref
	index int
	buf   bytes.Buffer
	marks []*element
}

// Colour is an sRGB colour.
type Colour = typeset.Colour

// Pen is how a line is drawn.
type Pen struct {
	Colour Colour
	Width  float64
	Dash   []float64
	Round  bool // round caps and joins
}

// XY is a point of a page.
type XY struct{ X, Y float64 }

func (p *Page) op(format string, a ...any) {
	fmt.Fprintf(&p.buf, format, a...)
	p.buf.WriteByte('\n')
}

func (p *Page) write(resources ref) {
	content := p.doc.obj.stream("", p.buf.Bytes())
	p.doc.obj.set(p.ref, fmt.Sprintf("<</Type /Page /Parent %v /MediaBox [0 0 %s] /Resources %v /Contents %v /StructParents %d /Tabs /S>>",
		p.doc.pageTree, nums(p.W, p.H), resources, content, p.index))
}

// Push saves the graphics state, Pop restores it.
func (p *Page) Push() { p.op("q") }

// Pop restores what Push saved.
func (p *Page) Pop() { p.op("Q") }

// Alpha sets the opacity of what follows, until Pop.
func (p *Page) Alpha(a float64) {
	a = math.Round(math.Min(1, math.Max(0, a))*100) / 100
	for i, have := range p.doc.alphas {
		if have == a {
			p.op("/A%d gs", i)
			return
		}
	}
	p.doc.alphas = append(p.doc.alphas, a)
	p.op("/A%d gs", len(p.doc.alphas)-1)
}

// rgb formats a colour for the given operator.
func rgb(c Colour, operator string) string {
	f := func(v uint8) string { return fmt.Sprintf("%.3g", float64(v)/255) }
	return f(c[0]) + " " + f(c[1]) + " " + f(c[2]) + " " + operator
}

func (p *Page) pen(s Pen) {
	p.op("%s %s w", rgb(s.Colour, "RG"), num(s.Width))
	cap := 0
	if s.Round {
		cap = 1
	}
	p.op("%d J %d j [%s] 0 d", cap, cap, nums(s.Dash...))
}

// FillRect fills a rectangle, with rounded corners when radius is above 0.
func (p *Page) FillRect(x, y, w, h, radius float64, c Colour) {
	p.op("%s", rgb(c, "rg"))
	p.rect(x, y, w, h, radius)
	p.op("f")
}

// StrokeRect draws a rectangle's outline.
func (p *Page) StrokeRect(x, y, w, h, radius float64, s Pen) {
	p.pen(s)
	p.rect(x, y, w, h, radius)
	p.op("S")
}

// ClipRect limits what follows to a rectangle, until Pop.
func (p *Page) ClipRect(x, y, w, h, radius float64) {
	p.rect(x, y, w, h, radius)
	p.op("W n")
}

// kappa places the control points of a quarter circle.
const kappa = 0.5522847498

func (p *Page) rect(x, y, w, h, r float64) {
	if r <= 0 {
		p.op("%s re", nums(x, p.H-y-h, w, h))
		return
	}
	r = math.Min(r, math.Min(w, h)/2)
	k := r * (1 - kappa)
	t, b := p.H-y, p.H-y-h
	p.op("%s m", nums(x+r, t))
	p.op("%s l", nums(x+w-r, t))
	p.op("%s c", nums(x+w-k, t, x+w, t-k, x+w, t-r))
	p.op("%s l", nums(x+w, b+r))
	p.op("%s c", nums(x+w, b+k, x+w-k, b, x+w-r, b))
	p.op("%s l", nums(x+r, b))
	p.op("%s c", nums(x+k, b, x, b+k, x, b+r))
	p.op("%s l", nums(x, t-r))
	p.op("%s c h", nums(x, t-k, x+k, t, x+r, t))
}

// Line draws an open polyline.
func (p *Page) Line(s Pen, pts ...XY) {
	if len(pts) < 2 {
		return
	}
	p.pen(s)
	p.path(pts)
	p.op("S")
}

// Polygon fills a closed polygon.
func (p *Page) Polygon(c Colour, pts ...XY) {
	if len(pts) < 3 {
		return
	}
	p.op("%s", rgb(c, "rg"))
	p.path(pts)
	p.op("h f")
}

func (p *Page) path(pts []XY) {
	for i, q := range pts {
		o := "l"
		if i == 0 {
			o = "m"
		}
		p.op("%s %s", nums(q.X, p.H-q.Y), o)
	}
}

// Circle fills a circle.
func (p *Page) Circle(x, y, r float64, c Colour) { p.FillRect(x-r, y-r, 2*r, 2*r, r, c) }

// Arc draws an arc round (x, y) from angle a to angle b, in radians, clockwise
// from the x axis as seen on the page.
func (p *Page) Arc(x, y, r, a, b float64, s Pen) {
	n := int(math.Ceil(math.Abs(b-a)/(math.Pi/24))) + 1
	pts := make([]XY, n+1)
	for i := range pts {
		t := a + (b-a)*float64(i)/float64(n)
		pts[i] = XY{x + r*math.Cos(t), y + r*math.Sin(t)}
	}
	p.Line(s, pts...)
}

// Draw places an image in a rectangle.
func (p *Page) Draw(im *Image, x, y, w, h float64) {
	p.op("q %s 0 0 %s %s cm /I%d Do Q", num(w), num(h), nums(x, p.H-y-h), im.index)
}
