package tflite

import "fmt"

// dimension is one level of a sparse tensor's traversal: dense with a size, or
// compressed (CSR) with segments and indices.
type dimension struct {
	compressed     bool
	size           int
	segments, vals []int
}

// densify expands a constant in TensorFlow Lite's sparse format
// (SparsityParameters of schema.fbs): dimensions, blocked ones included, are
// traversed in a stored order.
func densify(values []float32, shape []int, sp table) ([]float32, error) {
	order, blocks := sp.ints(0), sp.ints(1)
	var dims []dimension
	for _, d := range sp.tables(2) {
		x := dimension{compressed: d.int8(0) == 1, size: d.int32(1, 0)}
		if x.compressed {
			x.segments = d.indices(2, 3)
			x.vals = d.indices(4, 5)
		}
		dims = append(dims, x)
	}
	if sp.f.err != nil {
		return nil, sp.f.err
	}
	n, err := elements(shape)
	if err != nil {
		return nil, err
	}
	w := sparseWalk{values: values, shape: shape, order: order, blocks: blocks, dims: dims,
		out: make([]float32, n), at: make([]int, len(dims))}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("sparse tensor: %w", err)
	}
	if err := w.walk(0, 0); err != nil {
		return nil, fmt.Errorf("sparse tensor: %w", err)
	}
	if w.next != len(values) {
		return nil, fmt.Errorf("sparse tensor: %d of %d values used", w.next, len(values))
	}
	return w.out, nil
}

// indices reads the union SparseIndexVector: its type at field kind, its table
// at field val.
func (t table) indices(kind, val int) []int {
	v := t.sub(val)
	switch t.int8(kind) {
	case 1:
		return v.ints(0)
	case 2:
		return v.vectorOf(0, 2, t.f.u16)
	case 3:
		return v.vectorOf(0, 1, t.f.u8)
	}
	return nil
}

type sparseWalk struct {
	values        []float32
	shape         []int
	order, blocks []int
	dims          []dimension
	out           []float32
	scale         []int // of each dimension of shape: its block size
	at            []int // where the walk is, by level
	next          int   // value to place
}

func (w *sparseWalk) check() error {
	rank := len(w.shape)
	if len(w.dims) != rank+len(w.blocks) || len(w.order) != len(w.dims) || len(w.dims) > 2*maxRank {
		return fmt.Errorf("%d levels, %d in order, rank %d, %d blocks", len(w.dims), len(w.order), rank, len(w.blocks))
	}
	seen := make([]bool, len(w.order))
	for _, o := range w.order {
		if o < 0 || o >= len(w.dims) || seen[o] {
			return fmt.Errorf("traversal order %v", w.order)
		}
		seen[o] = true
	}
	w.scale = make([]int, rank)
	for i := range w.scale {
		w.scale[i] = 1
	}
	for k, d := range w.blocks {
		if d < 0 || d >= rank {
			return fmt.Errorf("block map %v", w.blocks)
		}
		w.scale[d] = w.dims[rank+k].size
	}
	return nil
}

func (w *sparseWalk) walk(level, parent int) error {
	if level == len(w.dims) {
		return w.place()
	}
	d := w.dims[level]
	if !d.compressed {
		if d.size < 0 || d.size > maxElements {
			return fmt.Errorf("size %d", d.size)
		}
		for i := range d.size {
			w.at[level] = i
			if err := w.walk(level+1, parent*d.size+i); err != nil {
				return err
			}
		}
		return nil
	}
	if parent < 0 || parent+1 >= len(d.segments) {
		return fmt.Errorf("segment %d of %d", parent, len(d.segments))
	}
	from, to := d.segments[parent], d.segments[parent+1]
	if from < 0 || to > len(d.vals) {
		return fmt.Errorf("segment %d to %d of %d indices", from, to, len(d.vals))
	}
	for i := from; i < to; i++ {
		w.at[level] = d.vals[i]
		if err := w.walk(level+1, i); err != nil {
			return err
		}
	}
	return nil
}

// place puts the next value where the walk is.
func (w *sparseWalk) place() error {
	var c [maxRank]int
	rank := len(w.shape)
	for level, o := range w.order {
		if o < rank {
			c[o] += w.at[level] * w.scale[o]
		} else {
			c[w.blocks[o-rank]] += w.at[level]
		}
	}
	flat := 0
	for i, size := range w.shape {
		if c[i] < 0 || c[i] >= size {
			return fmt.Errorf("index %v outside %v", c[:rank], w.shape)
		}
		flat = flat*size + c[i]
	}
	if w.next >= len(w.values) {
		return fmt.Errorf("more places than values")
	}
	w.out[flat] = w.values[w.next]
	w.next++
	return nil
}
