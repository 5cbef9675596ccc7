package bedrock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/shared/bedrock"
)

// maxSkew is how far a signature's time may be from ours.
const maxSkew = 5 * time.Minute

const errSignature = message("The request signature we calculated does not match the signature you provided.")

// signed checks a request's signature (AWS Signature Version 4), worked out anew
// from the specification and not by the SDK's signer.
func (s *Server) signed(r *http.Request, body []byte, now time.Time) error {
	fields, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return message("Missing Authentication Token")
	}
	part := map[string]string{}
	for _, f := range strings.Split(fields, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(f), "=")
		part[k] = v
	}
	stamp := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", stamp)
	if err != nil || now.Sub(at).Abs() > maxSkew {
		return messagef("Signature expired: %s is now", stamp)
	}
	scope := strings.Join([]string{stamp[:8], s.Region, bedrock.Scope, "aws4_request"}, "/")
	if part["Credential"] != s.AccessKey+"/"+scope {
		return message("Credential should be scoped to a valid region and service.")
	}
	names := strings.Split(part["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(names, must) {
			return messagef("'%s' must be a 'SignedHeader' in the AWS Authorization.", must)
		}
	}
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hash([]byte(canonical(r, names, body)))
	key := []byte("AWS4" + s.SecretKey)
	for _, step := range strings.Split(scope, "/") {
		key = mac(key, step)
	}
	if !hmac.Equal([]byte(hex.EncodeToString(mac(key, text))), []byte(part["Signature"])) {
		return errSignature
	}
	return nil
}

// canonical is the canonical request. A path is escaped once more than on the
// wire, for every service but S3.
func canonical(r *http.Request, names []string, body []byte) string {
	var b strings.Builder
	b.WriteString(r.Method + "\n" + strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25") + "\n")
	b.WriteString(strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20") + "\n")
	for _, n := range names {
		v := strings.Join(r.Header.Values(n), ",")
		switch n {
		case "host":
			v = r.Host
		case "content-length":
			v = strconv.FormatInt(r.ContentLength, 10)
		}
		b.WriteString(n + ":" + strings.Join(strings.Fields(v), " ") + "\n")
	}
	b.WriteString("\n" + strings.Join(names, ";") + "\n" + hash(body))
	return b.String()
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
