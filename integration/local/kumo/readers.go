package kumo

import (
	"encoding/json"
	"fmt"
	"unsafe"
)

// reader is kumo's own way of reading and writing one service's file, on a storage
// of its own that nobody else sees: New without a folder, UnmarshalJSON, MarshalJSON.
type reader struct {
	make  func() unsafe.Pointer
	read  func(storage unsafe.Pointer, b []byte) error
	write func(storage unsafe.Pointer) ([]byte, error)
}

// readers are those of the services that are used here, by the names of their files.
var readers = map[string]reader{
	"s3":             {func() unsafe.Pointer { return newS3() }, readS3, writeS3},
	"sqs":            {func() unsafe.Pointer { return newSQS("") }, readSQS, writeSQS},
	"sns":            {func() unsafe.Pointer { return newSNS("") }, readSNS, writeSNS},
	"sesv2":          {func() unsafe.Pointer { return newSES() }, readSES, writeSES},
	"ssm":            {func() unsafe.Pointer { return newSSM() }, readSSM, writeSSM},
	"secretsmanager": {func() unsafe.Pointer { return newSecrets("") }, readSecrets, writeSecrets},
	"eventbridge":    {func() unsafe.Pointer { return newEvents() }, readEvents, writeEvents},
}

// again gives what kumo would write after it has read b.
func (r reader) again(b []byte) ([]byte, error) {
	s := r.make()
	if err := r.read(s, b); err != nil {
		return nil, err
	}
	return r.write(s)
}

// option stands for a service's Option, of which none is given.
type option func(unsafe.Pointer)

//go:linkname newS3 github.com/sivchari/kumo/internal/service/s3.NewMemoryStorage
func newS3(...option) unsafe.Pointer

//go:linkname readS3 github.com/sivchari/kumo/internal/service/s3.(*MemoryStorage).UnmarshalJSON
func readS3(unsafe.Pointer, []byte) error

//go:linkname writeS3 github.com/sivchari/kumo/internal/service/s3.(*MemoryStorage).MarshalJSON
func writeS3(unsafe.Pointer) ([]byte, error)

//go:linkname newSQS github.com/sivchari/kumo/internal/service/sqs.NewMemoryStorage
func newSQS(string, ...option) unsafe.Pointer

//go:linkname readSQS github.com/sivchari/kumo/internal/service/sqs.(*MemoryStorage).UnmarshalJSON
func readSQS(unsafe.Pointer, []byte) error

//go:linkname writeSQS github.com/sivchari/kumo/internal/service/sqs.(*MemoryStorage).MarshalJSON
func writeSQS(unsafe.Pointer) ([]byte, error)

//go:linkname newSNS github.com/sivchari/kumo/internal/service/sns.NewMemoryStorage
func newSNS(string, ...option) unsafe.Pointer

//go:linkname readSNS github.com/sivchari/kumo/internal/service/sns.(*MemoryStorage).UnmarshalJSON
func readSNS(unsafe.Pointer, []byte) error

//go:linkname writeSNS github.com/sivchari/kumo/internal/service/sns.(*MemoryStorage).MarshalJSON
func writeSNS(unsafe.Pointer) ([]byte, error)

//go:linkname newSES github.com/sivchari/kumo/internal/service/sesv2.NewMemoryStorage
func newSES(...option) unsafe.Pointer

//go:linkname readSES github.com/sivchari/kumo/internal/service/sesv2.(*MemoryStorage).UnmarshalJSON
func readSES(unsafe.Pointer, []byte) error

//go:linkname writeSES github.com/sivchari/kumo/internal/service/sesv2.(*MemoryStorage).MarshalJSON
func writeSES(unsafe.Pointer) ([]byte, error)

//go:linkname newSSM github.com/sivchari/kumo/internal/service/ssm.NewMemoryStorage
func newSSM(...option) unsafe.Pointer

//go:linkname readSSM github.com/sivchari/kumo/internal/service/ssm.(*MemoryStorage).UnmarshalJSON
func readSSM(unsafe.Pointer, []byte) error

//go:linkname writeSSM github.com/sivchari/kumo/internal/service/ssm.(*MemoryStorage).MarshalJSON
func writeSSM(unsafe.Pointer) ([]byte, error)

//go:linkname newSecrets github.com/sivchari/kumo/internal/service/secretsmanager.NewMemoryStorage
func newSecrets(string, ...option) unsafe.Pointer

//go:linkname readSecrets github.com/sivchari/kumo/internal/service/secretsmanager.(*MemoryStorage).UnmarshalJSON
func readSecrets(unsafe.Pointer, []byte) error

//go:linkname writeSecrets github.com/sivchari/kumo/internal/service/secretsmanager.(*MemoryStorage).MarshalJSON
func writeSecrets(unsafe.Pointer) ([]byte, error)

//go:linkname newEvents github.com/sivchari/kumo/internal/service/eventbridge.NewMemoryStorage
func newEvents(...option) unsafe.Pointer

//go:linkname readEvents github.com/sivchari/kumo/internal/service/eventbridge.(*MemoryStorage).UnmarshalJSON
func readEvents(unsafe.Pointer, []byte) error

//go:linkname writeEvents github.com/sivchari/kumo/internal/service/eventbridge.(*MemoryStorage).MarshalJSON
func writeEvents(unsafe.Pointer) ([]byte, error)

// dropped finds something in one JSON document that another does not hold: where
// it is, "" if there is nothing. What is empty may be left out.
func dropped(from, in []byte) (string, error) {
	var a, b any
	if err := json.Unmarshal(from, &a); err != nil {
		return "", err
	}
	if err := json.Unmarshal(in, &b); err != nil {
		return "", err
	}
	return lost(a, b, "$"), nil
}

func lost(a, b any, at string) string {
	if empty(a) {
		return ""
	}
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok {
			return at
		}
		for k, v := range a {
			if where := lost(v, m[k], at+"."+k); where != "" {
				return where
			}
		}
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			return at
		}
		for i, v := range a {
			if where := lost(v, l[i], fmt.Sprint(at, "[", i, "]")); where != "" {
				return where
			}
		}
	default:
		if a != b {
			return at
		}
	}
	return ""
}

// empty reports whether a member may be left out: its absence says the same.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == "" || v == 0.0 || v == false
}
