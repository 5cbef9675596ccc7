// Package tflite reads the TensorFlow Lite files of the BlazePose models and
// writes them as ONNX. It knows the operators that those models use and refuses
// any other by number. A damaged file is an error, never a panic.
//
// The formats: TensorFlow's schema.fbs (version 3), the FlatBuffers binary
// format, and ONNX's onnx.proto (IR version 7, opset 13).
package tflite

import (
	"encoding/binary"
	"errors"
)

var errBounds = errors.New("tflite: an offset points outside the file")

// buffer is a FlatBuffer. The first access out of bounds sets err; from then on
// everything reads as zero or empty.
type buffer struct {
	b   []byte
	err error
}

func (f *buffer) in(p, n int) bool {
	if f.err != nil {
		return false
	}
	if p < 0 || n < 0 || p > len(f.b) || n > len(f.b)-p {
		f.err = errBounds
		return false
	}
	return true
}

func (f *buffer) u8(p int) int {
	if !f.in(p, 1) {
		return 0
	}
	return int(f.b[p])
}

func (f *buffer) u16(p int) int {
	if !f.in(p, 2) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(f.b[p:]))
}

func (f *buffer) u32(p int) int {
	if !f.in(p, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f.b[p:]))
}

func (f *buffer) i32(p int) int { return int(int32(f.u32(p))) }

// table is a FlatBuffers table. One with p 0 is absent: its fields have their
// default values.
type table struct {
	f         *buffer
	p         int // position
	vtable, n int // position and length in bytes of its vtable
}

// at makes the table at position p.
func (f *buffer) at(p int) table {
	v := p - f.i32(p)
	n := f.u16(v)
	if !f.in(v, n) || n < 4 {
		return table{f: f}
	}
	return table{f, p, v, n}
}

// field gives the position of field i, 0 when it is not set.
func (t table) field(i int) int {
	k := 4 + 2*i
	if t.p == 0 || k+2 > t.n {
		return 0
	}
	o := t.f.u16(t.vtable + k)
	if o == 0 {
		return 0
	}
	return t.p + o
}

func (t table) int8(i int) int {
	if p := t.field(i); p != 0 {
		return int(int8(t.f.u8(p)))
	}
	return 0
}

func (t table) int32(i, def int) int {
	if p := t.field(i); p != 0 {
		return t.f.i32(p)
	}
	return def
}

// sub gives the table that field i points at.
func (t table) sub(i int) table {
	if p := t.field(i); p != 0 {
		return t.f.at(p + t.f.u32(p))
	}
	return table{f: t.f}
}

// vector gives the position of the first element and the number of elements of
// a vector whose elements are size bytes long.
func (t table) vector(i, size int) (p, n int) {
	q := t.field(i)
	if q == 0 {
		return 0, 0
	}
	q += t.f.u32(q)
	n = t.f.u32(q)
	if n > len(t.f.b)/size || !t.f.in(q+4, n*size) {
		t.f.err = errBounds
		return 0, 0
	}
	return q + 4, n
}

func (t table) tables(i int) []table {
	p, n := t.vector(i, 4)
	out := make([]table, n)
	for k := range out {
		q := p + 4*k
		out[k] = t.f.at(q + t.f.u32(q))
	}
	return out
}

// ints reads a vector of int32.
func (t table) ints(i int) []int { return t.vectorOf(i, 4, t.f.i32) }

func (t table) vectorOf(i, size int, read func(int) int) []int {
	p, n := t.vector(i, size)
	out := make([]int, n)
	for k := range out {
		out[k] = read(p + size*k)
	}
	return out
}

func (t table) bytes(i int) []byte {
	p, n := t.vector(i, 1)
	return t.f.b[p : p+n]
}
