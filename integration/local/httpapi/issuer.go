package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The local user pool and its two clients: the app's, and the web page's.
const (
	IssuerURL    = "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_local"
	ClientID     = "local-app"
	PageClientID = "local-page"
)

// Issuer makes access tokens such as a Cognito user pool makes.
type Issuer struct {
	key *rsa.PrivateKey
	kid string
}

// OpenIssuer opens the issuer whose key lies in a folder, and makes the key
// when there is none: tokens stay good over a restart.
func OpenIssuer(dir string) (*Issuer, error) {
	path := filepath.Join(dir, "issuer-key.pem")
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(dir, path); err == nil {
			key, err = readKey(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the token issuer's key: %w", err)
	}
	sum := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	return &Issuer{key: key, kid: hex.EncodeToString(sum[:8])}, nil
}

func readKey(path string) (*rsa.PrivateKey, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block; remove it to get a new key", path)
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// makeKey writes a new key. Of two makers the first one's key stays.
func makeKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "issuer-key-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	err = pem.Encode(tmp, &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Token makes an access token for a user in some groups.
func (i *Issuer) Token(sub string, groups []string, ttl time.Duration) (string, error) {
	now := time.Now()
	claims := jwt.MapClaims{
		"sub": sub, "username": sub, "iss": IssuerURL, "client_id": ClientID, "token_use": "access", "version": 2,
		"scope": "aws.cognito.signin.user.admin", "auth_time": now.Unix(), "iat": now.Unix(), "exp": now.Add(ttl).Unix(),
		"jti": rand.Text(), "origin_jti": rand.Text(),
	}
	if len(groups) > 0 {
		claims["cognito:groups"] = groups
	}
	return i.Sign(claims)
}

// Sign makes a token of any claims: of another kind, time or audience too.
func (i *Issuer) Sign(claims map[string]any) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(claims))
	t.Header["kid"] = i.kid
	signed, err := t.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed, nil
}

// JWKS is the issuer's public key set.
func (i *Issuer) JWKS(context.Context) ([]byte, error) {
	pub := i.key.PublicKey
	return json.Marshal(map[string][]jwk{"keys": {{
		Type: "RSA", ID: i.kid, Use: "sig", Alg: "RS256",
		N: base64.RawURLEncoding.EncodeToString(pub.N.Bytes()),
		E: base64.RawURLEncoding.EncodeToString(big.NewInt(int64(pub.E)).Bytes()),
	}}})
}

// Authorizer checks this issuer's tokens. As in AWS, their kind is left to the
// function.
func (i *Issuer) Authorizer() *Authorizer {
	return &Authorizer{Issuer: IssuerURL, Audience: []string{ClientID, PageClientID}, JWKS: i.JWKS}
}

// ServeHTTP serves /.well-known/jwks.json, for whoever wants to check a token.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/.well-known/jwks.json" {
		refuse(w, http.StatusNotFound, msgNotFound)
		return
	}
	doc, err := i.JWKS(r.Context())
	if err != nil {
		refuse(w, http.StatusInternalServerError, msgInternal)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(doc)
}
