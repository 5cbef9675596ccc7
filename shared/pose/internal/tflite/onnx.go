package tflite

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// InputName is the name of the ONNX graph's input.
const InputName = "input"

// ONNX writes the model as an ONNX file: opset 13, float32, NCHW inside; the
// input stays NHWC. A graph whose shapes do not fit is an error.
func (m *Model) ONNX() ([]byte, error) {
	w := &writer{m: m, flat: map[int]bool{}}
	in := m.in[0]
	w.node("Transpose", []string{InputName}, name(in), attrInts("perm", 0, 3, 1, 2))
	w.floats("zero", []float32{0}) // scalars
	w.floats("six", []float32{6})
	w.floats("none", nil, 0)
	for i, o := range m.ops {
		if err := w.op(o); err != nil {
			return nil, fmt.Errorf("tflite: to ONNX: operator %d (code %d): %w", i, o.code, err)
		}
	}
	for _, k := range m.out {
		t := m.tensors[k]
		if len(t.shape) == 4 && !w.flat[k] {
			w.node("Transpose", []string{name(k)}, t.name, attrInts("perm", 0, 2, 3, 1))
		} else {
			w.node("Identity", []string{name(k)}, t.name)
		}
	}
	return w.file(), nil
}

// writer collects the graph. flat holds the tensors that are in the order of
// the original and no longer NCHW: everything after a reshape.
type writer struct {
	m     *Model
	graph proto
	flat  map[int]bool
}

func name(k int) string { return "t" + strconv.Itoa(k) }

func (w *writer) op(o *op) error {
	out := name(o.out[0])
	pre := out // before the activation
	switch o.activation {
	case activationNone:
	case activationRelu, activationRelu6:
		pre += "_pre"
	default:
		return fmt.Errorf("activation %d", o.activation)
	}
	if err := w.emit(o, name(o.in[0]), pre); err != nil {
		return err
	}
	switch o.activation {
	case activationRelu:
		w.node("Relu", []string{pre}, out)
	case activationRelu6:
		w.node("Clip", []string{pre, "zero", "six"}, out)
	}
	return nil
}

func (w *writer) emit(o *op, x, out string) error {
	in, res := w.m.tensors[o.in[0]], w.m.tensors[o.out[0]]
	switch o.code {
	case opConv2D, opDepthwise:
		return w.conv(o, x, out)
	case opAdd:
		if len(o.in) != 2 {
			return fmt.Errorf("%d inputs", len(o.in))
		}
		w.node("Add", []string{x, name(o.in[1])}, out)
	case opPad:
		return w.pad(o, x, out)
	case opMaxPool:
		if len(in.shape) != 4 || o.strideH < 1 || o.strideW < 1 || o.kernelH < 1 || o.kernelW < 1 {
			return fmt.Errorf("shape %v, kernel %d x %d", in.shape, o.kernelH, o.kernelW)
		}
		w.node("MaxPool", []string{x}, out, attrInts("kernel_shape", o.kernelH, o.kernelW),
			attrInts("strides", o.strideH, o.strideW), attrInts("pads", o.pads(in.shape, o.kernelH, o.kernelW)...))
	case opResize:
		if len(res.shape) != 4 {
			return fmt.Errorf("shape %v", res.shape)
		}
		w.int64s(out+"_size", 1, res.shape[3], res.shape[1], res.shape[2])
		w.node("Resize", []string{x, "none", "", out + "_size"}, out,
			attrString("mode", "linear"), attrString("coordinate_transformation_mode", "half_pixel"))
	case opDepthToSpace:
		w.node("DepthToSpace", []string{x}, out, attrInt("blocksize", o.block), attrString("mode", "DCR"))
	case opReshape:
		src := x
		if len(in.shape) == 4 && in.shape[1]*in.shape[2] > 1 && !w.flat[o.in[0]] {
			src = out + "_nhwc"
			w.node("Transpose", []string{x}, src, attrInts("perm", 0, 2, 3, 1))
		}
		w.int64s(out+"_shape", res.shape...)
		w.node("Reshape", []string{src, out + "_shape"}, out)
		w.flat[o.out[0]] = true
	case opConcatenation:
		return w.concat(o, out)
	case opLogistic:
		w.node("Sigmoid", []string{x}, out)
		w.flat[o.out[0]] = w.flat[o.in[0]]
	default:
		return fmt.Errorf("not supported")
	}
	return nil
}

// conv writes a convolution with its weights in ONNX's order: OHWI becomes
// OIHW, and a depthwise 1HWC becomes C1HW.
func (w *writer) conv(o *op, x, out string) error {
	if len(o.in) != 3 {
		return fmt.Errorf("%d inputs, want picture, weights and bias", len(o.in))
	}
	in, k, bias := w.m.tensors[o.in[0]].shape, w.m.tensors[o.in[1]], w.m.tensors[o.in[2]].data
	if len(in) != 4 || len(k.shape) != 4 || o.strideH < 1 || o.strideW < 1 {
		return fmt.Errorf("shapes %v and %v", in, k.shape)
	}
	s := k.shape
	if n, err := elements(s); err != nil || n != len(k.data) || n == 0 {
		return fmt.Errorf("%d weights for shape %v", len(k.data), s)
	}
	outer, inner, group := s[0], s[3], 1
	if o.code == opDepthwise {
		outer, inner, group = s[3], s[0], s[3]
		if inner != 1 {
			return fmt.Errorf("depthwise weights %v", s)
		}
	}
	if len(bias) != outer {
		return fmt.Errorf("%d biases for %d channels", len(bias), outer)
	}
	weights := make([]float32, 0, len(k.data))
	for a := range outer {
		for b := range inner {
			for h := range s[1] {
				for v := range s[2] {
					i0, i3 := a, b
					if o.code == opDepthwise {
						i0, i3 = b, a
					}
					weights = append(weights, k.data[((i0*s[1]+h)*s[2]+v)*s[3]+i3])
				}
			}
		}
	}
	w.floats(out+"_w", weights, outer, inner, s[1], s[2])
	w.floats(out+"_b", bias, len(bias))
	w.node("Conv", []string{x, out + "_w", out + "_b"}, out, attrInts("kernel_shape", s[1], s[2]),
		attrInts("strides", o.strideH, o.strideW), attrInts("pads", o.pads(in, s[1], s[2])...), attrInt("group", group))
	return nil
}

// pads gives TensorFlow's SAME padding (the odd pixel goes to the end), which
// depends on the size, or none.
func (o *op) pads(in []int, kh, kw int) []int {
	if !o.same {
		return []int{0, 0, 0, 0}
	}
	one := func(size, k, stride int) (int, int) {
		n := (size + stride - 1) / stride
		p := max(0, (n-1)*stride+k-size)
		return p / 2, p - p/2
	}
	t, b := one(in[1], kh, o.strideH)
	l, r := one(in[2], kw, o.strideW)
	return []int{t, l, b, r}
}

func (w *writer) pad(o *op, x, out string) error {
	if len(o.in) != 2 || len(w.m.tensors[o.in[1]].ints) != 8 {
		return fmt.Errorf("padding of another rank than 4")
	}
	q := w.m.tensors[o.in[1]].ints // NHWC, begin and end by turns
	p := make([]int, 0, 8)
	for end := range 2 {
		for _, d := range [4]int{0, 3, 1, 2} {
			p = append(p, int(q[2*d+end]))
		}
	}
	w.int64s(out+"_pads", p...)
	w.node("Pad", []string{x, out + "_pads"}, out)
	return nil
}

func (w *writer) concat(o *op, out string) error {
	rank := len(w.m.tensors[o.out[0]].shape)
	axis := o.axis
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return fmt.Errorf("axis %d of rank %d", o.axis, rank)
	}
	if w.flat[o.in[0]] {
		w.flat[o.out[0]] = true
	} else {
		if rank != 4 {
			return fmt.Errorf("rank %d", rank)
		}
		axis = [4]int{0, 2, 3, 1}[axis]
	}
	in := make([]string, len(o.in))
	for i, k := range o.in {
		in[i] = name(k)
	}
	w.node("Concat", in, out, attrInt("axis", axis))
	return nil
}

// The field numbers below are those of onnx.proto.

func (w *writer) node(kind string, in []string, out string, attrs ...proto) {
	var n proto
	for _, x := range in {
		n.str(1, x)
	}
	n.str(2, out)
	n.str(4, kind)
	for _, a := range attrs {
		n.bytes(5, a)
	}
	w.graph.bytes(1, n)
}

// floats adds a float constant; without dims it is a scalar.
func (w *writer) floats(name string, v []float32, dims ...int) {
	var t proto
	for _, d := range dims {
		t.varint(1, uint64(d))
	}
	t.varint(2, 1) // FLOAT
	t.str(8, name)
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	t.bytes(9, raw)
	w.graph.bytes(5, t)
}

func (w *writer) int64s(name string, v ...int) {
	var t proto
	t.varint(1, uint64(len(v)))
	t.varint(2, 7) // INT64
	t.str(8, name)
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(x)))
	}
	t.bytes(9, raw)
	w.graph.bytes(5, t)
}

func (w *writer) file() []byte {
	w.graph.str(2, "pose")
	w.graph.bytes(11, valueInfo(InputName, w.m.tensors[w.m.in[0]].shape))
	for _, k := range w.m.out {
		w.graph.bytes(12, valueInfo(w.m.tensors[k].name, w.m.tensors[k].shape))
	}
	var opset, f proto
	opset.str(1, "")
	opset.varint(2, 13)
	f.varint(1, 7) // IR version
	f.str(2, "fastbowlinglab")
	f.bytes(7, w.graph)
	f.bytes(8, opset)
	return f
}

func valueInfo(name string, dims []int) proto {
	var shape, kind, t, v proto
	for _, d := range dims {
		var one proto
		one.varint(1, uint64(d))
		shape.bytes(1, one)
	}
	kind.varint(1, 1)
	kind.bytes(2, shape)
	t.bytes(1, kind)
	v.str(1, name)
	v.bytes(2, t)
	return v
}
