package pdf

import (
	"fmt"
	"strings"
)

// element is a node of the structure tree that screen readers follow.
type element struct {
	tag    string
	alt    string
	scope  string
	parent *element
	kids   []*element
	marks  []mark
	ref    ref
}

// mark is a piece of a page's content that belongs to an element.
type mark struct {
	page *Page
	id   int
}

// Begin opens a structure element, for example Table or TR; what is tagged
// until End goes inside it.
func (d *Doc) Begin(tag string) {
	e := &element{tag: tag, parent: d.open}
	d.open.kids = append(d.open.kids, e)
	d.open = e
}

// End closes the element that Begin opened.
func (d *Doc) End() {
	if d.open.parent != nil {
		d.open = d.open.parent
	}
}

// Tag draws content as one element of the given type (H1, H2, P, TH, TD,
// Caption). Calls must not be nested.
func (p *Page) Tag(tag string, draw func()) { p.mark(&element{tag: tag}, draw) }

// Figure draws content as a picture with an alternative text.
func (p *Page) Figure(alt string, draw func()) { p.mark(&element{tag: "Figure", alt: alt}, draw) }

// Header draws content as a header cell of a column or row.
func (p *Page) Header(scope string, draw func()) { p.mark(&element{tag: "TH", scope: scope}, draw) }

// Artifact draws content that is no part of the text: rules, running heads.
func (p *Page) Artifact(draw func()) {
	p.op("/Artifact BMC")
	draw()
	p.op("EMC")
}

func (p *Page) mark(e *element, draw func()) {
	e.parent = p.doc.open
	e.marks = []mark{{p, len(p.marks)}}
	p.doc.open.kids = append(p.doc.open.kids, e)
	p.op("/%s <</MCID %d>> BDC", e.tag, len(p.marks))
	p.marks = append(p.marks, e)
	draw()
	p.op("EMC")
}

// writeStructure writes the tree and the map from pages' marks back to it.
func (d *Doc) writeStructure() ref {
	root := d.obj.reserve()
	d.root.reserve(&d.obj)
	d.root.write(&d.obj, root)
	var tree strings.Builder
	for _, p := range d.pages {
		refs := make([]string, len(p.marks))
		for i, e := range p.marks {
			refs[i] = e.ref.String()
		}
		fmt.Fprintf(&tree, "%d [%s] ", p.index, strings.Join(refs, " "))
	}
	d.obj.set(root, fmt.Sprintf("<</Type /StructTreeRoot /K %v /ParentTree <</Nums [%s]>> /ParentTreeNextKey %d>>",
		d.root.ref, tree.String(), len(d.pages)))
	return root
}

func (e *element) reserve(o *objects) {
	e.ref = o.reserve()
	for _, k := range e.kids {
		k.reserve(o)
	}
}

func (e *element) write(o *objects, parent ref) {
	var kids []string
	for _, m := range e.marks {
		kids = append(kids, fmt.Sprintf("<</Type /MCR /Pg %v /MCID %d>>", m.page.ref, m.id))
	}
	for _, k := range e.kids {
		kids = append(kids, k.ref.String())
		k.write(o, e.ref)
	}
	s := fmt.Sprintf("<</Type /StructElem /S /%s /P %v /K [%s]", e.tag, parent, strings.Join(kids, " "))
	if e.alt != "" {
		s += " /Alt " + utf16Text(e.alt)
	}
	if e.scope != "" {
		s += fmt.Sprintf(" /A <</O /Table /Scope /%s>>", e.scope)
	}
	o.set(e.ref, s+">>")
}
