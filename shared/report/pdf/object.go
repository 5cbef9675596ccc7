package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// ref is an object number.
type ref int

func (r ref) String() string { return strconv.Itoa(int(r)) + " 0 R" }

// objects collects numbered objects; numbers may be taken before bodies exist.
type objects struct {
	bodies [][]byte
}

func (o *objects) reserve() ref {
	o.bodies = append(o.bodies, nil)
	return ref(len(o.bodies))
}

func (o *objects) set(r ref, body string) { o.bodies[r-1] = []byte(body) }

func (o *objects) add(body string) ref {
	r := o.reserve()
	o.set(r, body)
	return r
}

// stream adds a stream object; dict holds further entries. Data is deflated
// unless the dictionary names a filter.
func (o *objects) stream(dict string, data []byte) ref {
	r := o.reserve()
	o.setStream(r, dict, data)
	return r
}

func (o *objects) setStream(r ref, dict string, data []byte) {
	if !strings.Contains(dict, "/Filter") {
		var z bytes.Buffer
		w, _ := zlib.NewWriterLevel(&z, zlib.BestCompression) // the level is valid
		w.Write(data)                                         // a bytes.Buffer takes all
		w.Close()
		data, dict = z.Bytes(), dict+" /Filter /FlateDecode"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<<%s /Length %d>>\nstream\n", dict, len(data))
	b.Write(data)
	b.WriteString("\nendstream")
	o.bodies[r-1] = b.Bytes()
}

// write lays out header, objects, cross-reference table and trailer.
func (o *objects) write(root, info ref, id string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	at := make([]int, len(o.bodies))
	for i, body := range o.bodies {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n", i+1)
		b.Write(body)
		b.WriteString("\nendobj\n")
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, p := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", p)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root %v /Info %v /ID [<%s> <%s>]>>\nstartxref\n%d\n%%%%EOF\n",
		len(at)+1, root, info, id, id, xref)
	return b.Bytes()
}

// num formats a length. PDF has no exponents, infinities or NaN.
func num(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > 1e6 {
		panic(notANumber{f})
	}
	s := strconv.FormatFloat(f, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" || s == "" {
		return "0"
	}
	return s
}

// notANumber is what num panics with; Catch turns it into an error.
type notANumber struct{ value float64 }

// Catch, deferred, turns the panic of a coordinate that is no usable number
// into an error, so that a caller's arithmetic slip cannot write a broken file.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case notANumber:
		*err = fmt.Errorf("pdf: coordinate %v cannot be written", p.value)
	default:
		panic(p)
	}
}

func nums(fs ...float64) string {
	s := make([]string, len(fs))
	for i, f := range fs {
		s[i] = num(f)
	}
	return strings.Join(s, " ")
}

// utf16Text makes a text string object in UTF-16, whatever it holds.
func utf16Text(s string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", u)
	}
	b.WriteString(">")
	return b.String()
}
