// Package callback authenticates messages that somebody else's server sends us:
// payment events, and results of pose workers that are reached over HTTP. It
// knows nothing of what they say.
//
// The signature is hex(HMAC-SHA256(key, id + "." + timestamp + "." + raw body)),
// over the bytes as they came: parsing comes after, never before. The id names
// the message, the timestamp is the time of signing in Unix seconds. Rules:
//
//   - Each of the three headers comes exactly once, however its name is spelt.
//     Two signatures, or one header under two spellings, are refused: choosing
//     among them would let a proxy and this code choose differently.
//   - The timestamp is digits alone and within Window of now, before or after.
//   - The signature is 64 hex digits, of either case, and nothing else. It is
//     compared in constant time with those of all keys, of which there may be two
//     while a key is being replaced.
//   - The receiver remembers the id for at least Remember, with the effect that
//     the message had; an older copy is stale by its timestamp.
package callback

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a message.
const (
	HeaderID        = "X-Event-Id"
	HeaderTimestamp = "X-Timestamp"
	HeaderSignature = "X-Signature"
)

// Window is how far a timestamp may be from now; Remember is how long an id must
// be remembered so that no copy of the message can pass again.
const (
	Window   = 5 * time.Minute
	Remember = 3 * Window
)

// Limits of a message.
const (
	maxID     = 128
	maxDigits = 12
	minKey    = 16
	maxKeys   = 2
)

// The ways in which a message is refused. Which one it was is for the log: the
// sender is told only that the message was refused.
var (
	ErrHeader    = errors.New("callback: a header is missing, malformed or doubled")
	ErrStale     = errors.New("callback: the timestamp is too far from now")
	ErrSignature = errors.New("callback: the signature does not fit")
)

// Sign gives the signature of a message.
func Sign(key []byte, id string, at time.Time, body []byte) string {
	return hex.EncodeToString(mac(key, id, strconv.FormatInt(at.Unix(), 10), body))
}

func mac(key []byte, id, timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(body)
	return h.Sum(nil)
}

// Message is an authentic message.
type Message struct {
	ID   string
	At   time.Time // of signing
	Body []byte    // as it came
}

// Verify authenticates a request with one of one or two keys. The error wraps
// one of the errors above, or says that the keys cannot be used.
func Verify(r Request, keys [][]byte, now time.Time) (Message, error) {
	if len(keys) == 0 || len(keys) > maxKeys {
		return Message{}, fmt.Errorf("callback: %d keys, want 1 or %d", len(keys), maxKeys)
	}
	for _, k := range keys {
		if len(k) < minKey {
			return Message{}, fmt.Errorf("callback: a key of %d bytes; at least %d are needed", len(k), minKey)
		}
	}
	id, err := r.one(HeaderID)
	if err != nil {
		return Message{}, err
	}
	if len(id) > maxID || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' || c == ',' || c == '.' }) {
		return Message{}, fmt.Errorf("%w: %s", ErrHeader, HeaderID)
	}
	stamp, err := r.one(HeaderTimestamp)
	if err != nil {
		return Message{}, err
	}
	at, err := parseTimestamp(stamp)
	if err != nil {
		return Message{}, err
	}
	sig, err := r.one(HeaderSignature)
	if err != nil {
		return Message{}, err
	}
	given, err := hex.DecodeString(sig)
	if err != nil || len(given) != sha256.Size {
		return Message{}, fmt.Errorf("%w: %s is not %d hex digits", ErrSignature, HeaderSignature, 2*sha256.Size)
	}
	fits := 0
	for _, k := range keys { // all of them, whichever fits
		fits |= subtle.ConstantTimeCompare(given, mac(k, id, stamp, r.Body))
	}
	if fits != 1 {
		return Message{}, ErrSignature
	}
	if d := now.Sub(at); d > Window || d < -Window {
		return Message{}, fmt.Errorf("%w: by %s", ErrStale, d.Truncate(time.Second))
	}
	return Message{ID: id, At: at, Body: r.Body}, nil
}

func parseTimestamp(s string) (time.Time, error) {
	if len(s) > maxDigits || strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' }) {
		return time.Time{}, fmt.Errorf("%w: %s", ErrHeader, HeaderTimestamp)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %s", ErrHeader, HeaderTimestamp)
	}
	return time.Unix(n, 0), nil
}
