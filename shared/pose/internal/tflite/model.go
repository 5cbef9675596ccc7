package tflite

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Operators of the BlazePose models, by their number in schema.fbs.
const (
	opAdd           = 0
	opConcatenation = 2
	opConv2D        = 3
	opDepthwise     = 4
	opDepthToSpace  = 5
	opDequantize    = 6
	opLogistic      = 14
	opMaxPool       = 17
	opReshape       = 22
	opResize        = 23
	opPad           = 34
	opDensify       = 124
)

const (
	activationNone  = 0
	activationRelu  = 1
	activationRelu6 = 3
)

// Limits on what a file may ask for.
const (
	maxElements = 1 << 26
	maxNodes    = 1 << 14
	maxRank     = 8
)

// tensor is a value of the graph; data or ints are set when it is a constant.
type tensor struct {
	shape  []int
	kind   int // 0 float32, 1 float16, 2 int32
	name   string
	data   []float32
	ints   []int32
	sparse table
}

// op is a node of the graph.
type op struct {
	code             int
	in, out          []int
	same             bool // SAME padding
	strideW, strideH int
	kernelW, kernelH int
	activation       int
	axis, block      int
}

// Model is a graph that has been read.
type Model struct {
	tensors []*tensor
	ops     []*op
	in, out []int
}

// Read reads a .tflite file. Constants stored as float16 or as a sparse matrix
// are expanded to float32.
func Read(file []byte) (*Model, error) {
	f := &buffer{b: file}
	if len(file) < 8 || string(file[4:8]) != "TFL3" {
		return nil, fmt.Errorf("tflite: not a TFL3 file (%d bytes)", len(file))
	}
	root := f.at(f.u32(0))
	var codes []int
	for _, c := range root.tables(1) {
		// The old 8-bit code is a placeholder (127) for newer operators.
		codes = append(codes, max(c.int8(0), c.int32(3, 0)))
	}
	graphs := root.tables(2)
	if f.err != nil {
		return nil, f.err
	}
	if len(graphs) != 1 {
		return nil, fmt.Errorf("tflite: %d graphs, want 1", len(graphs))
	}
	m := &Model{in: graphs[0].ints(1), out: graphs[0].ints(2)}
	if err := m.readTensors(graphs[0], root.tables(4)); err != nil {
		return nil, err
	}
	if err := m.readOps(graphs[0], codes); err != nil {
		return nil, err
	}
	if f.err != nil {
		return nil, f.err
	}
	return m, m.check()
}

func (m *Model) readTensors(g table, buffers []table) error {
	for i, t := range g.tables(0) {
		if i >= maxNodes {
			return fmt.Errorf("tflite: over %d tensors", maxNodes)
		}
		x := &tensor{shape: t.ints(0), kind: t.int8(1), name: string(t.bytes(3)), sparse: t.sub(6)}
		if _, err := elements(x.shape); err != nil {
			return fmt.Errorf("tflite: tensor %d: %w", i, err)
		}
		b := t.int32(2, 0)
		if b < 0 || b >= len(buffers) {
			return fmt.Errorf("tflite: tensor %d: buffer %d of %d", i, b, len(buffers))
		}
		x.decode(buffers[b].bytes(0))
		m.tensors = append(m.tensors, x)
	}
	return g.f.err
}

// elements multiplies a shape out, within the limits.
func elements(shape []int) (int, error) {
	if len(shape) > maxRank {
		return 0, fmt.Errorf("rank %d", len(shape))
	}
	n := 1
	for _, d := range shape {
		if d < 0 || d > maxElements || n*d > maxElements {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		n *= d
	}
	return n, nil
}

func (x *tensor) decode(raw []byte) {
	if len(raw) == 0 {
		return
	}
	switch x.kind {
	case 0:
		x.data = make([]float32, len(raw)/4)
		for i := range x.data {
			x.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case 1:
		x.data = make([]float32, len(raw)/2)
		for i := range x.data {
			x.data[i] = half(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case 2:
		x.ints = make([]int32, len(raw)/4)
		for i := range x.ints {
			x.ints[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	}
}

// half converts an IEEE 754 binary16 number.
func half(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp, frac := uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0: // zero and subnormals
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31: // infinity and NaN
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

func (m *Model) readOps(g table, codes []int) error {
	for i, o := range g.tables(3) {
		if i >= maxNodes {
			return fmt.Errorf("tflite: over %d operators", maxNodes)
		}
		c := o.int32(0, 0)
		if c < 0 || c >= len(codes) {
			return fmt.Errorf("tflite: operator %d: code %d of %d", i, c, len(codes))
		}
		x := &op{code: codes[c], in: o.ints(1), out: o.ints(2)}
		if err := m.checkEdges(x); err != nil {
			return fmt.Errorf("tflite: operator %d: %w", i, err)
		}
		constant, err := m.fold(x)
		if err != nil {
			return fmt.Errorf("tflite: operator %d: %w", i, err)
		}
		if constant {
			continue
		}
		if err := x.readOptions(o.sub(4)); err != nil {
			return fmt.Errorf("tflite: operator %d: %w", i, err)
		}
		m.ops = append(m.ops, x)
	}
	return g.f.err
}

// checkEdges checks that an operator's tensors exist. A missing optional input
// is -1 in the format; these models have none.
func (m *Model) checkEdges(x *op) error {
	if len(x.in) == 0 || len(x.out) != 1 {
		return fmt.Errorf("%d inputs, %d outputs", len(x.in), len(x.out))
	}
	for _, k := range append(append([]int{}, x.in...), x.out...) {
		if k < 0 || k >= len(m.tensors) {
			return fmt.Errorf("tensor %d of %d", k, len(m.tensors))
		}
	}
	return nil
}

// fold carries out the operators that only unpack constants.
func (m *Model) fold(x *op) (bool, error) {
	from, to := m.tensors[x.in[0]], m.tensors[x.out[0]]
	switch x.code {
	case opDequantize:
		to.data = from.data
	case opDensify:
		dense, err := densify(from.data, from.shape, from.sparse)
		if err != nil {
			return true, err
		}
		to.data = dense
	default:
		return false, nil
	}
	if len(to.data) == 0 {
		return true, fmt.Errorf("operator code %d unpacks nothing", x.code)
	}
	return true, nil
}

func (x *op) readOptions(t table) error {
	switch x.code {
	case opConv2D:
		x.same, x.strideW, x.strideH, x.activation = t.int8(0) == 0, t.int32(1, 1), t.int32(2, 1), t.int8(3)
		return undilated(t, 4, 5)
	case opDepthwise:
		x.same, x.strideW, x.strideH, x.activation = t.int8(0) == 0, t.int32(1, 1), t.int32(2, 1), t.int8(4)
		return undilated(t, 5, 6)
	case opAdd:
		x.activation = t.int8(0)
	case opMaxPool:
		x.same, x.strideW, x.strideH = t.int8(0) == 0, t.int32(1, 1), t.int32(2, 1)
		x.kernelW, x.kernelH, x.activation = t.int32(3, 1), t.int32(4, 1), t.int8(5)
	case opResize:
		if t.int8(3) == 0 {
			return fmt.Errorf("resize without half-pixel centres")
		}
	case opConcatenation:
		x.axis = t.int32(0, 0)
	case opDepthToSpace:
		x.block = t.int32(0, 0)
	case opPad, opReshape, opLogistic:
	default:
		return fmt.Errorf("operator code %d is not supported", x.code)
	}
	return nil
}

func undilated(t table, fields ...int) error {
	for _, f := range fields {
		if t.int32(f, 1) != 1 {
			return fmt.Errorf("dilated convolution")
		}
	}
	return nil
}

// check holds the graph's own inputs and outputs against its tensors.
func (m *Model) check() error {
	if len(m.in) != 1 || len(m.out) == 0 {
		return fmt.Errorf("tflite: %d inputs, %d outputs", len(m.in), len(m.out))
	}
	for _, k := range append(append([]int{}, m.in...), m.out...) {
		if k < 0 || k >= len(m.tensors) {
			return fmt.Errorf("tflite: input or output %d of %d tensors", k, len(m.tensors))
		}
	}
	if s := m.tensors[m.in[0]].shape; len(s) != 4 || s[0] != 1 || s[3] != 3 {
		return fmt.Errorf("tflite: input shape %v is no picture", s)
	}
	return nil
}

// InputSize gives the height and width of the picture that goes in (RGB).
func (m *Model) InputSize() (h, w int) {
	s := m.tensors[m.in[0]].shape
	return s[1], s[2]
}

// Output is one result of the model.
type Output struct {
	Name  string
	Shape []int
}

// Outputs lists the results.
func (m *Model) Outputs() []Output {
	out := make([]Output, len(m.out))
	for i, k := range m.out {
		out[i] = Output{m.tensors[k].name, m.tensors[k].shape}
	}
	return out
}

// Keep drops every output but the named ones, and the operators that only the
// others need. It is an error when one is not there.
func (m *Model) Keep(names ...string) error {
	var out []int
	need := map[int]bool{}
	for _, name := range names {
		found := false
		for _, k := range m.out {
			if m.tensors[k].name == name {
				out, found = append(out, k), true
				need[k] = true
			}
		}
		if !found {
			return fmt.Errorf("tflite: there is no output %q", name)
		}
	}
	var kept []*op
	for i := len(m.ops) - 1; i >= 0; i-- {
		if o := m.ops[i]; need[o.out[0]] {
			for _, k := range o.in {
				need[k] = true
			}
			kept = append(kept, o)
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	m.ops, m.out = kept, out
	return nil
}
