package pdf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Info is what a file says about itself.
type Info struct {
	Title    string
	Subject  string
	Producer string
	Lang     string    // language of the text, for example en-GB
	Created  time.Time // written as given; the zero time is left out
}

// Doc is a document being written.
type Doc struct {
	info     Info
	obj      objects
	pages    []*Page
	fonts    []*Font
	byName   map[string]*Font
	images   map[[32]byte]*Image
	alphas   []float64
	outline  []bookmark
	root     *element // of the structure tree
	open     *element
	pageTree ref
}

type bookmark struct {
	title string
	page  *Page
	y     float64
}

// New starts a document.
func New(info Info) *Doc {
	root := &element{tag: "Document"}
	d := &Doc{info: info, byName: map[string]*Font{}, images: map[[32]byte]*Image{}, root: root, open: root}
	d.pageTree = d.obj.reserve()
	return d
}

// AddPage adds a page of the given size.
func (d *Doc) AddPage(width, height float64) *Page {
	p := &Page{doc: d, W: width, H: height, ref: d.obj.reserve(), index: len(d.pages)}
	d.pages = append(d.pages, p)
	return p
}

// Pages lists the pages so far, for running heads and feet that need a total.
func (d *Doc) Pages() []*Page { return d.pages }

// Bookmark adds an entry to the outline that leads to y on the page.
func (d *Doc) Bookmark(title string, p *Page, y float64) {
	d.outline = append(d.outline, bookmark{title, p, y})
}

// Bytes finishes the document.
func (d *Doc) Bytes() (out []byte, err error) {
	defer Catch(&err)
	resources := d.resources()
	for _, p := range d.pages {
		p.write(resources)
	}
	kids := make([]string, len(d.pages))
	for i, p := range d.pages {
		kids[i] = p.ref.String()
	}
	d.obj.set(d.pageTree, fmt.Sprintf("<</Type /Pages /Count %d /Kids [%s]>>", len(kids), strings.Join(kids, " ")))
	for _, f := range d.fonts {
		if err := f.write(&d.obj); err != nil {
			return nil, err
		}
	}
	catalog := fmt.Sprintf("<</Type /Catalog /Pages %v /Lang %s /ViewerPreferences <</DisplayDocTitle true>> /MarkInfo <</Marked true>> /StructTreeRoot %v",
		d.pageTree, utf16Text(d.info.Lang), d.writeStructure())
	if o, ok := d.writeOutline(); ok {
		catalog += fmt.Sprintf(" /Outlines %v", o)
	}
	root := d.obj.add(catalog + ">>")
	info := d.obj.add(d.infoDict())
	sum := sha256.New()
	for _, b := range d.obj.bodies {
		sum.Write(b)
	}
	return d.obj.write(root, info, hex.EncodeToString(sum.Sum(nil)[:16])), nil
}

func (d *Doc) infoDict() string {
	s := fmt.Sprintf("<</Title %s /Subject %s /Producer %s", utf16Text(d.info.Title), utf16Text(d.info.Subject), utf16Text(d.info.Producer))
	if !d.info.Created.IsZero() {
		t := d.info.Created.UTC().Format("20060102150405")
		s += fmt.Sprintf(" /CreationDate (D:%sZ) /ModDate (D:%sZ)", t, t)
	}
	return s + ">>"
}

// resources are shared by all pages.
func (d *Doc) resources() ref {
	var b strings.Builder
	b.WriteString("<</ProcSet [/PDF /Text /ImageC] /Font <<")
	for i, f := range d.fonts {
		fmt.Fprintf(&b, "/F%d %v ", i, f.ref)
	}
	b.WriteString(">> /XObject <<")
	ims := make([]*Image, len(d.images))
	for _, im := range d.images {
		ims[im.index] = im
	}
	for i, im := range ims {
		fmt.Fprintf(&b, "/I%d %v ", i, im.ref)
	}
	b.WriteString(">> /ExtGState <<")
	for i, a := range d.alphas {
		fmt.Fprintf(&b, "/A%d <</ca %s /CA %s>> ", i, num(a), num(a))
	}
	b.WriteString(">>>>")
	return d.obj.add(b.String())
}

func (d *Doc) writeOutline() (ref, bool) {
	if len(d.outline) == 0 {
		return 0, false
	}
	root := d.obj.reserve()
	refs := make([]ref, len(d.outline))
	for i := range refs {
		refs[i] = d.obj.reserve()
	}
	for i, o := range d.outline {
		s := fmt.Sprintf("<</Title %s /Parent %v /Dest [%v /XYZ null %s null]", utf16Text(o.title), root, o.page.ref, num(o.page.H-o.y))
		if i > 0 {
			s += fmt.Sprintf(" /Prev %v", refs[i-1])
		}
		if i+1 < len(refs) {
			s += fmt.Sprintf(" /Next %v", refs[i+1])
		}
		d.obj.set(refs[i], s+">>")
	}
	d.obj.set(root, fmt.Sprintf("<</Type /Outlines /First %v /Last %v /Count %d>>", refs[0], refs[len(refs)-1], len(refs)))
	return root, true
}
