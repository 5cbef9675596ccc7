package callback_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/callback"
)

var (
	key  = []byte("unit-test-secret")
	now  = time.Unix(1764432000, 0)
	keys = [][]byte{key}
)

// cases is the folder of the field cases' payloads.
func cases(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	p := filepath.Join(dir, "..", "shared", "cases", "payloads")
	if _, err := os.Stat(p); err != nil {
		t.Skip("../shared/cases/payloads is not here")
	}
	return p
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(cases(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func signed(id string, at time.Time, body []byte) map[string]string {
	return map[string]string{"x-event-id": id, "x-timestamp": at2s(at), "x-signature": callback.Sign(key, id, at, body)}
}

func at2s(at time.Time) string {
	b, _ := json.Marshal(at.Unix()) // a number
	return string(b)
}

// Field case 54: what is signed are the bytes, whatever JSON would make of them.
func TestRawBytes(t *testing.T) {
	for _, f := range []string{"h1_spaces_and_float", "h2_unicode_raw", "h3_unicode_escaped", "h4_key_order_dup", "h5_trailing_newline", "h6_big_int", "h7_bom"} {
		t.Run(f, func(t *testing.T) {
			body := read(t, f+".json")
			// By hand, not by Sign: the scheme itself is under test.
			h := hmac.New(sha256.New, key)
			h.Write([]byte("ev-1.1764432000."))
			h.Write(body)
			headers := map[string]string{"X-Event-Id": "ev-1", "X-Timestamp": "1764432000", "X-Signature": hex.EncodeToString(h.Sum(nil))}
			m, err := callback.Verify(callback.FromMap(headers, body), keys, now)
			if err != nil || string(m.Body) != string(body) || m.ID != "ev-1" || !m.At.Equal(now) {
				t.Fatalf("%+v, %v", m, err)
			}
			var v any
			if json.Unmarshal(body, &v) == nil { // marshalled again it is another message
				again, _ := json.Marshal(v)
				if string(again) == string(body) {
					t.Skip("JSON gives the same bytes again")
				}
				if _, err := callback.Verify(callback.FromMap(headers, again), keys, now); !errors.Is(err, callback.ErrSignature) {
					t.Errorf("re-serialised: %v", err)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	body := []byte(`{"a":1}`)
	good := callback.Sign(key, "ev-1", now, body)
	for name, tc := range map[string]struct {
		change map[string]string
		want   error
	}{
		"OK":                  {nil, nil},
		"UpperCase":           {map[string]string{"x-signature": strings.ToUpper(good)}, nil},
		"Prefixed":            {map[string]string{"x-signature": "sha256=" + good}, callback.ErrSignature},
		"Cut":                 {map[string]string{"x-signature": good[:62]}, callback.ErrSignature},
		"CutByHalfAByte":      {map[string]string{"x-signature": good[:63]}, callback.ErrSignature},
		"Longer":              {map[string]string{"x-signature": good + "00"}, callback.ErrSignature},
		"EmptySignature":      {map[string]string{"x-signature": ""}, callback.ErrHeader},
		"Doubled":             {map[string]string{"x-signature": strings.Repeat("0", 64) + "," + good}, callback.ErrHeader},
		"DoubledBySpelling":   {map[string]string{"X-Signature": good}, callback.ErrHeader},
		"OtherID":             {map[string]string{"x-event-id": "ev-2"}, callback.ErrSignature},
		"IDMovesIntoTime":     {map[string]string{"x-event-id": "ev-1.1"}, callback.ErrHeader},
		"EmptyID":             {map[string]string{"x-event-id": ""}, callback.ErrHeader},
		"OtherTime":           {map[string]string{"x-timestamp": "1764432001"}, callback.ErrSignature},
		"NegativeTime":        {map[string]string{"x-timestamp": "-1764432000"}, callback.ErrHeader},
		"PlusTime":            {map[string]string{"x-timestamp": "+1764432000"}, callback.ErrHeader},
		"FractionalTime":      {map[string]string{"x-timestamp": "1764432000.0"}, callback.ErrHeader},
		"EmptyTime":           {map[string]string{"x-timestamp": ""}, callback.ErrHeader},
		"NumberTooLong":       {map[string]string{"x-timestamp": strings.Repeat("1", 40)}, callback.ErrHeader},
		"MillisecondsRefused": {map[string]string{"x-timestamp": "1764432000000", "x-signature": callback.Sign(key, "ev-1", time.Unix(1764432000000, 0), body)}, callback.ErrHeader},
	} {
		t.Run(name, func(t *testing.T) {
			h := signed("ev-1", now, body)
			for k, v := range tc.change {
				h[k] = v
			}
			_, err := callback.Verify(callback.FromMap(h, body), keys, now)
			if !errors.Is(err, tc.want) || (tc.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestWindow(t *testing.T) {
	body := []byte("{}")
	for off, fresh := range map[time.Duration]bool{0: true, 300 * time.Second: true, -300 * time.Second: true,
		301 * time.Second: false, -301 * time.Second: false, 7 * 24 * time.Hour: false} {
		_, err := callback.Verify(callback.FromMap(signed("e", now, body), body), keys, now.Add(off))
		if fresh != (err == nil) || !fresh && !errors.Is(err, callback.ErrStale) {
			t.Errorf("at %s: %v", off, err)
		}
	}
}

// While a key is being replaced both count; afterwards the old one does not.
func TestRotation(t *testing.T) {
	body, newKey := []byte("{}"), []byte("another-secret-of-ours")
	req := callback.FromMap(signed("e", now, body), body)
	for name, tc := range map[string]struct {
		keys [][]byte
		ok   bool
	}{
		"before": {[][]byte{key}, true}, "new first": {[][]byte{newKey, key}, true},
		"old first": {[][]byte{key, newKey}, true}, "after": {[][]byte{newKey}, false},
	} {
		if _, err := callback.Verify(req, tc.keys, now); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range [][][]byte{nil, {key, newKey, key}, {nil}, {[]byte("short")}} {
		if _, err := callback.Verify(req, bad, now); err == nil || errors.Is(err, callback.ErrSignature) {
			t.Errorf("keys %q: %v; the keys themselves are wrong", bad, err)
		}
	}
}

// Field case 55: the shapes in which API Gateway and a load balancer hand on
// headers and bodies. The fixtures are signed by another scheme: the signature is
// replaced, the rest stays.
func TestShapes(t *testing.T) {
	body := read(t, "h2_unicode_raw.json")
	for name, tc := range map[string]struct {
		file string
		want error
	}{
		"REST":                     {"g1_apigw_v1_rest.json", nil},
		"HTTPBase64LowerCase":      {"g2_apigw_v2_http_base64_lowercase.json", nil},
		"BalancerDoubledSignature": {"g3_alb_duplicate_signature_headers.json", callback.ErrHeader},
	} {
		t.Run(name, func(t *testing.T) {
			good := callback.Sign(key, "ev-9", now, body)
			event := strings.ReplaceAll(string(read(t, tc.file)), "cdca16972031388843979347a57213f9099c0ccfd9c901ef7ba53040aa2d654e", good)
			event = strings.ReplaceAll(event, `"X-Timestamp": "1764432000"`, `"X-Timestamp": "1764432000", "X-Event-Id": "ev-9"`)
			event = strings.ReplaceAll(event, `"x-timestamp": "1764432000"`, `"x-timestamp": "1764432000", "x-event-id": "ev-9"`)
			event = strings.ReplaceAll(event, `"X-Timestamp": ["1764432000"]`, `"X-Timestamp": ["1764432000"], "X-Event-Id": ["ev-9"]`)
			event = strings.ReplaceAll(event, `"x-timestamp": ["1764432000"]`, `"x-timestamp": ["1764432000"], "x-event-id": ["ev-9"]`)
			req, err := callback.Parse([]byte(event))
			if err != nil {
				t.Fatal(err)
			}
			if string(req.Body) != string(body) {
				t.Fatalf("body %q", req.Body)
			}
			m, err := callback.Verify(req, keys, now)
			if !errors.Is(err, tc.want) || (tc.want == nil) != (err == nil) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			if err == nil && m.ID != "ev-9" {
				t.Errorf("id %q", m.ID)
			}
		})
	}
	if _, err := callback.Parse([]byte(`{"body":"%%%","isBase64Encoded":true}`)); err == nil {
		t.Error("a body that is not base64 was read")
	}
}
