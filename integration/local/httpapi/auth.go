package httpapi

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Authorizer is an API's JWT authorizer.
type Authorizer struct {
	Issuer   string   // what iss must be
	Audience []string // one of which aud, or client_id where there is no aud, must be
	TokenUse string   // what token_use must be; "" lets every token pass, as API Gateway does
	// JWKS fetches the issuer's key set. It is asked again for a key id that is
	// not known, but not more often than every few seconds.
	JWKS func(context.Context) ([]byte, error)

	mu      sync.Mutex
	keys    map[string]*rsa.PublicKey
	fetched time.Time
}

// refetch is how long a key set is believed about a key that is not in it.
const refetch = 5 * time.Second

// identity is what a token says.
type identity struct {
	claims map[string]string
	scopes []string
}

var errNoToken = errors.New("no token")

// check reads and verifies the request's token.
func (a *Authorizer) check(r *http.Request) (*identity, error) {
	raw := r.Header.Get("Authorization")
	if len(raw) >= 7 && strings.EqualFold(raw[:7], "Bearer ") {
		raw = strings.TrimSpace(raw[7:])
	}
	if raw == "" {
		return nil, errNoToken
	}
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(a.Issuer),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithJSONNumber(), jwt.WithStrictDecoding())
	_, err := parser.ParseWithClaims(raw, claims, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("the token has critical headers")
		}
		kid, _ := t.Header["kid"].(string)
		return a.key(r.Context(), kid)
	})
	if err != nil {
		return nil, err
	}
	if err := a.checkAudience(claims); err != nil {
		return nil, err
	}
	if use, _ := claims["token_use"].(string); a.TokenUse != "" && use != a.TokenUse {
		return nil, fmt.Errorf("the token is not an %s token", a.TokenUse)
	}
	id := &identity{claims: make(map[string]string, len(claims))}
	for k, v := range claims {
		id.claims[k] = claimText(v)
	}
	if s, _ := claims["scope"].(string); s != "" {
		id.scopes = strings.Fields(s)
	}
	return id, nil
}

// checkAudience looks at client_id only where there is no aud.
func (a *Authorizer) checkAudience(claims jwt.MapClaims) error {
	var got []string
	switch aud := claims["aud"].(type) {
	case nil:
		if id, ok := claims["client_id"].(string); ok {
			got = []string{id}
		}
	case string:
		got = []string{aud}
	case []any:
		for _, v := range aud {
			if s, ok := v.(string); ok {
				got = append(got, s)
			}
		}
	}
	for _, g := range got {
		if g != "" && slices.Contains(a.Audience, g) {
			return nil
		}
	}
	return jwt.ErrTokenInvalidAudience
}

// key finds the issuer's key by its id.
func (a *Authorizer) key(ctx context.Context, kid string) (*rsa.PublicKey, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.keys[kid]; k != nil {
		return k, nil
	}
	if a.keys != nil && time.Since(a.fetched) < refetch {
		return nil, errors.New("the token's key is unknown")
	}
	doc, err := a.JWKS(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	keys, err := parseJWKS(doc)
	if err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	a.keys, a.fetched = keys, time.Now()
	if k := keys[kid]; k != nil {
		return k, nil
	}
	return nil, errors.New("the token's key is unknown")
}

// parseJWKS reads the RSA signing keys of a key set.
func parseJWKS(doc []byte) (map[string]*rsa.PublicKey, error) {
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set); err != nil {
		return nil, err
	}
	keys := map[string]*rsa.PublicKey{}
	for _, k := range set.Keys {
		if k.Type != "RSA" || k.ID == "" || (k.Use != "" && k.Use != "sig") {
			continue
		}
		n, err1 := base64.RawURLEncoding.DecodeString(k.N)
		e, err2 := base64.RawURLEncoding.DecodeString(k.E)
		exp := new(big.Int).SetBytes(e)
		if err := errors.Join(err1, err2); err != nil || !exp.IsInt64() || exp.Int64() > 1<<31-1 {
			return nil, fmt.Errorf("key %s is malformed", k.ID)
		}
		keys[k.ID] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exp.Int64())}
	}
	return keys, nil
}

// jwk is an RSA key of a JSON Web Key Set (RFC 7517).
type jwk struct {
	Type string `json:"kty"`
	ID   string `json:"kid"`
	Use  string `json:"use"`
	Alg  string `json:"alg"`
	N    string `json:"n"`
	E    string `json:"e"`
}

// claimText writes a claim as API Gateway does: everything is a string, a list
// is its members between brackets, parted by spaces.
func claimText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = claimText(p)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+":"+claimText(v[k]))
		}
		return "map[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(v)
}

// challenge is the www-authenticate header of a refusal.
func challenge(err error) string {
	if errors.Is(err, errNoToken) {
		return "Bearer"
	}
	why := "the token is invalid"
	for _, c := range []struct {
		err error
		why string
	}{
		{jwt.ErrTokenExpired, "the token has expired"},
		{jwt.ErrTokenNotValidYet, "the token is not valid yet"},
		{jwt.ErrTokenUsedBeforeIssued, "the token was issued in the future"},
		{jwt.ErrTokenInvalidIssuer, "the token does not have a valid issuer"},
		{jwt.ErrTokenInvalidAudience, "the token does not have a valid audience"},
		{jwt.ErrTokenRequiredClaimMissing, "the token lacks a required claim"},
		{jwt.ErrTokenMalformed, "the token is malformed"},
		{jwt.ErrTokenSignatureInvalid, "the token's signature is invalid"},
	} {
		if errors.Is(err, c.err) {
			why = c.why
			break
		}
	}
	return `Bearer scope="" error="invalid_token" error_description="` + why + `"`
}
