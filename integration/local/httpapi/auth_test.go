package httpapi_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fastbowlinglab/integration/local/httpapi"
)

// pool is a user pool whose tokens the tests make by hand.
type pool struct {
	key, other *rsa.PrivateKey
	fetches    int
	down       bool
}

func newPool(t *testing.T) *pool {
	t.Helper()
	p := &pool{}
	for _, k := range []**rsa.PrivateKey{&p.key, &p.other} {
		var err error
		if *k, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *pool) jwks(context.Context) ([]byte, error) {
	p.fetches++
	if p.down {
		return nil, errors.New("connection refused")
	}
	return fmt.Appendf(nil, `{"keys":[{"kty":"EC","kid":"k1"},{"kty":"RSA","kid":"k1","use":"sig","n":%q,"e":"AQAB"},{"kty":"RSA","use":"enc","kid":"enc","n":%q,"e":"AQAB"}]}`,
		base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), base64.RawURLEncoding.EncodeToString(p.key.N.Bytes())), nil
}

const issuerURL = "https://issuer.example/pool"

func claims(change ...func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{"sub": "athlete-1", "iss": issuerURL, "client_id": "app", "token_use": "access",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	for _, f := range change {
		f(c)
	}
	return c
}

func set(k string, v any) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c[k] = v } }
func drop(k string) func(jwt.MapClaims)       { return func(c jwt.MapClaims) { delete(c, k) } }

func sign(t *testing.T, m jwt.SigningMethod, key any, c jwt.MapClaims, header ...string) string {
	t.Helper()
	tok := jwt.NewWithClaims(m, c)
	tok.Header["kid"] = "k1"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] == "" {
			delete(tok.Header, header[i])
		} else {
			tok.Header[header[i]] = header[i+1]
		}
	}
	s, err := tok.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTokens is the table of tokens. Sources: API Gateway's "Control access to
// HTTP APIs with JWT authorizers", RFC 8725.
func TestTokens(t *testing.T) {
	p := newPool(t)
	fn := &lambda{out: ok}
	f := serve(t, fn, func(c *httpapi.Config) {
		c.Auth = &httpapi.Authorizer{Issuer: issuerURL, Audience: []string{"app", "app2"}, TokenUse: "access", JWKS: p.jwks}
	})
	rs := func(c jwt.MapClaims, header ...string) string {
		return sign(t, jwt.SigningMethodRS256, p.key, c, header...)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&p.key.PublicKey)})
	publicPKIX, err := x509.MarshalPKIXPublicKey(&p.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	good := rs(claims())
	tampered := func() string {
		parts := strings.Split(good, ".")
		b, _ := json.Marshal(claims(set("sub", "somebody-else")))
		parts[1] = base64.RawURLEncoding.EncodeToString(b)
		return strings.Join(parts, ".")
	}()
	for _, c := range []struct{ name, token, why string }{
		{"access token", good, ""},
		{"aud instead of client_id", rs(claims(drop("client_id"), set("aud", "app2"))), ""},
		{"one of several aud", rs(claims(drop("client_id"), set("aud", []string{"x", "app"}))), ""},
		{"nbf in the past", rs(claims(set("nbf", time.Now().Add(-time.Minute).Unix()))), ""},

		{"no token", "", "Bearer"},
		{"not a token", "hello", "malformed"},
		{"two parts", "a.b", "malformed"},
		{"expired", rs(claims(set("exp", time.Now().Add(-time.Second).Unix()))), "expired"},
		{"no exp", rs(claims(drop("exp"))), "lacks a required claim"},
		{"exp is text", rs(claims(set("exp", "tomorrow"))), "invalid"},
		{"nbf in the future", rs(claims(set("nbf", time.Now().Add(time.Minute).Unix()))), "not valid yet"},
		{"iat in the future", rs(claims(set("iat", time.Now().Add(time.Minute).Unix()))), "issued in the future"},
		{"another issuer", rs(claims(set("iss", "https://evil.example"))), "valid issuer"},
		{"no issuer", rs(claims(drop("iss"))), "lacks a required claim"},
		{"another client", rs(claims(set("client_id", "other"))), "valid audience"},
		{"neither aud nor client_id", rs(claims(drop("client_id"))), "valid audience"},
		{"another aud although client_id fits", rs(claims(set("aud", "other"))), "valid audience"},
		{"empty aud list although client_id fits", rs(claims(set("aud", []string{}))), "valid audience"},
		{"ID token", rs(claims(set("token_use", "id"), set("aud", "app"), drop("client_id"))), "invalid"},
		{"no token_use", rs(claims(drop("token_use"))), "invalid"},
		{"alg none", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims()), "signature"},
		{"HS256 with the public key in PEM", sign(t, jwt.SigningMethodHS256, publicPEM, claims()), "signature"},
		{"HS256 with the public key in DER", sign(t, jwt.SigningMethodHS256, publicPKIX, claims()), "signature"},
		{"HS256 with the modulus", sign(t, jwt.SigningMethodHS256, p.key.N.Bytes(), claims()), "signature"},
		{"PS256 of the right key", sign(t, jwt.SigningMethodPS256, p.key, claims()), "signature"},
		{"another key under the right id", sign(t, jwt.SigningMethodRS256, p.other, claims()), "signature"},
		{"unknown key id", rs(claims(), "kid", "k9"), "invalid"},
		{"an encryption key's id", rs(claims(), "kid", "enc"), "invalid"},
		{"no key id", rs(claims(), "kid", ""), "invalid"},
		{"a critical header", rs(claims(), "crit", "b64"), "invalid"},
		{"tampered claims", tampered, "signature"},
		{"no signature", good[:strings.LastIndex(good, ".")+1], "signature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fn.calls()
			auth := "authorization:"
			if c.token != "" {
				auth = "authorization: Bearer " + c.token
			}
			res, body := f.do(t, "GET", "/v1/credits", "", auth)
			if c.why == "" {
				if res.StatusCode != 200 {
					t.Errorf("refused: %d %s %s", res.StatusCode, body, res.Header.Get("Www-Authenticate"))
				}
				return
			}
			if res.StatusCode != 401 || body != `{"message":"Unauthorized"}` || !strings.Contains(res.Header.Get("Www-Authenticate"), c.why) {
				t.Errorf("got %d %s %s, want 401 because of %q", res.StatusCode, body, res.Header.Get("Www-Authenticate"), c.why)
			}
			if fn.calls() != before {
				t.Error("the function was called")
			}
		})
	}
	for _, form := range []string{"Bearer ", "bearer ", ""} {
		if res, _ := f.do(t, "GET", "/v1/credits", "", "authorization: "+form+good); res.StatusCode != 200 {
			t.Errorf("%q and the token: %d", form, res.StatusCode)
		}
	}
	if p.fetches > 3 {
		t.Errorf("the key set was fetched %d times for %s", p.fetches, "one known and some unknown ids")
	}
}

func TestAnIDTokenPassesWhereAPIGatewayLetsIt(t *testing.T) {
	p := newPool(t)
	f := serve(t, &lambda{out: ok}, func(c *httpapi.Config) {
		c.Auth = &httpapi.Authorizer{Issuer: issuerURL, Audience: []string{"app"}, JWKS: p.jwks}
	})
	tok := sign(t, jwt.SigningMethodRS256, p.key, claims(set("token_use", "id"), set("aud", "app")))
	if res, _ := f.do(t, "GET", "/v1/credits", "", "authorization: "+tok); res.StatusCode != 200 {
		t.Errorf("status %d, want 200: API Gateway does not look at token_use", res.StatusCode)
	}
}

func TestClaimsBecomeText(t *testing.T) {
	p := newPool(t)
	f := serve(t, &lambda{out: ok}, func(c *httpapi.Config) {
		c.Auth = &httpapi.Authorizer{Issuer: issuerURL, Audience: []string{"app"}, JWKS: p.jwks}
	})
	c := claims(set("big", int64(9007199254740993)), set("yes", true), set("cognito:groups", []string{"a", "b"}), set("one", []string{"a"}),
		set("none", []string{}), set("address", map[string]any{"b": 1, "a": "x"}))
	f.do(t, "GET", "/v1/credits", "", "authorization: "+sign(t, jwt.SigningMethodRS256, p.key, c))
	got := f.fn.last(t).RequestContext.Authorizer.JWT.Claims
	for k, want := range map[string]string{"big": "9007199254740993", "yes": "true", "cognito:groups": "[a b]", "one": "[a]", "none": "[]", "address": "map[a:x b:1]"} {
		if got[k] != want {
			t.Errorf("claim %s is %q, want %q", k, got[k], want)
		}
	}
}

func TestKeysThatCannotBeFetchedRefuse(t *testing.T) {
	p := newPool(t)
	p.down = true
	f := serve(t, &lambda{out: ok}, func(c *httpapi.Config) {
		c.Auth = &httpapi.Authorizer{Issuer: issuerURL, Audience: []string{"app"}, JWKS: p.jwks}
	})
	tok := "authorization: " + sign(t, jwt.SigningMethodRS256, p.key, claims())
	if res, _ := f.do(t, "GET", "/v1/credits", "", tok); res.StatusCode != 401 {
		t.Errorf("status %d without keys", res.StatusCode)
	}
	p.down = false
	if res, _ := f.do(t, "GET", "/v1/credits", "", tok); res.StatusCode != 200 {
		t.Errorf("status %d after the keys came back", res.StatusCode)
	}
}

func TestTokensSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	first, err := httpapi.OpenIssuer(dir)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := first.Token("athlete-1", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	second, err := httpapi.OpenIssuer(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, &lambda{out: ok}, func(c *httpapi.Config) { c.Auth = second.Authorizer() })
	if res, _ := f.do(t, "GET", "/v1/credits", "", "authorization: "+tok); res.StatusCode != 200 {
		t.Errorf("status %d: %s", res.StatusCode, res.Header.Get("Www-Authenticate"))
	}
	if _, there := f.fn.last(t).RequestContext.Authorizer.JWT.Claims["cognito:groups"]; there {
		t.Error("a user without groups has a groups claim")
	}
	if res, _ := f.do(t, "GET", "/v1/credits", "", "authorization: Bearer "+f.token); res.StatusCode != 401 {
		t.Errorf("another pool's token: %d", res.StatusCode)
	}
	st, err := os.Stat(filepath.Join(dir, "issuer-key.pem"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("key file %v (%v), want mode 0600", st.Mode(), err)
	}
}

func TestTwoMakersOfAKeyAgree(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	docs := make([]string, 4)
	for i := range docs {
		wg.Go(func() {
			is, err := httpapi.OpenIssuer(dir)
			if err != nil {
				t.Error(err)
				return
			}
			b, _ := is.JWKS(context.Background())
			docs[i] = string(b)
		})
	}
	wg.Wait()
	for _, d := range docs[1:] {
		if d != docs[0] {
			t.Fatal("two issuers with different keys in one folder")
		}
	}
}

func TestADamagedKeyFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "issuer-key.pem")
	if err := os.WriteFile(path, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.OpenIssuer(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
}
