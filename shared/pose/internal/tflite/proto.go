package tflite

import "encoding/binary"

// proto is a protobuf message being written.
type proto []byte

func (p *proto) varint(field int, v uint64) {
	*p = binary.AppendUvarint(*p, uint64(field)<<3)
	*p = binary.AppendUvarint(*p, v)
}

func (p *proto) bytes(field int, b []byte) {
	*p = binary.AppendUvarint(*p, uint64(field)<<3|2)
	*p = binary.AppendUvarint(*p, uint64(len(b)))
	*p = append(*p, b...)
}

func (p *proto) str(field int, s string) { p.bytes(field, []byte(s)) }

// Attributes of a node: name, value, type.

func attrInt(name string, v int) proto {
	var a proto
	a.str(1, name)
	a.varint(3, uint64(int64(v)))
	a.varint(20, 2)
	return a
}

func attrString(name, v string) proto {
	var a proto
	a.str(1, name)
	a.str(4, v)
	a.varint(20, 3)
	return a
}

func attrInts(name string, v ...int) proto {
	var a proto
	a.str(1, name)
	for _, x := range v {
		a.varint(8, uint64(int64(x)))
	}
	a.varint(20, 7)
	return a
}
