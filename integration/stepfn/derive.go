package stepfn

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// source derives everything that looks random (task tokens, ids, jitter) from a
// seed and from what it is for. Nothing depends on the order in which goroutines
// ask, so the same seed gives the same run.
type source struct{ key []byte }

// newSource makes a source. An empty seed is replaced by a random one.
func newSource(seed string) (source, error) {
	if seed != "" {
		return source{[]byte(seed)}, nil
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return source{}, fmt.Errorf("read a random seed: %w", err)
	}
	return source{key}, nil
}

func (s source) sum(purpose string, parts ...any) []byte {
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "%q", append([]any{purpose}, parts...))
	return h.Sum(nil)
}

// uuid gives a version-4-shaped id.
func (s source) uuid(parts ...any) string {
	b := s.sum("uuid", parts...)[:16]
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b)
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// fraction gives a number in [0,1).
func (s source) fraction(parts ...any) float64 {
	b := s.sum("fraction", parts...)
	return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53)
}

// token gives a task token: 24 derived bytes and a checksum, by which a mangled
// token is told from an unknown one.
func (s source) token(parts ...any) string {
	id := s.sum("token", parts...)[:24]
	check := sha256.Sum256(id)
	return base64.StdEncoding.EncodeToString(append(id, check[:6]...))
}

// wellFormed reports whether a token has the form that an engine gives out.
func wellFormed(token string) bool {
	b, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(b) != 30 {
		return false
	}
	check := sha256.Sum256(b[:24])
	return string(b[24:]) == string(check[:6])
}

// requestID is the id of an API request; it means nothing and is never derived.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(b[:])
}
