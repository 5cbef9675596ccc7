package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"fastbowlinglab/shared/names"
)

// answer is what the token endpoint says.
type answer struct {
	ID      string `json:"id_token"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"` // seconds
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs no answer
}

func refuse(w http.ResponseWriter, name string) {
	say(w, http.StatusBadRequest, map[string]string{"error": name})
}

// fields reads a form of a client; false when it was refused.
func (s *Server) fields(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	if err := r.ParseForm(); err != nil {
		refuse(w, "invalid_request")
		return nil, false
	}
	for _, v := range r.PostForm {
		if len(v) > 1 {
			refuse(w, "invalid_request")
			return nil, false
		}
	}
	if r.PostForm.Get("client_id") != s.page.Client {
		refuse(w, "invalid_client")
		return nil, false
	}
	return r.PostForm, true
}

// token exchanges a code, or a refresh token, for tokens.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	f, ok := s.fields(w, r)
	if !ok {
		return
	}
	var g *grant
	nonce := ""
	s.mu.Lock()
	switch f.Get("grant_type") {
	case "authorization_code":
		g, nonce = s.byCode(f)
	case "refresh_token":
		g = s.byRefresh(f.Get("refresh_token"))
	default:
		s.mu.Unlock()
		refuse(w, "unsupported_grant_type")
		return
	}
	next := ""
	if s.forget(); g != nil && len(s.refresh) < maxKept {
		next = rand.Text()
		s.refresh[next] = &refresh{g, g.at.Add(names.PageRefresh)}
	}
	s.mu.Unlock()
	if next == "" {
		refuse(w, "invalid_grant")
		return
	}
	a, err := s.tokens(g, nonce)
	if err != nil {
		say(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
		return
	}
	a.Refresh = next
	say(w, http.StatusOK, a)
}

// byCode uses a code up: whatever else is wrong with the request, it is gone.
func (s *Server) byCode(f url.Values) (*grant, string) {
	c := s.codes[f.Get("code")]
	switch {
	case c == nil:
		return nil, ""
	case c.grant != nil:
		c.grant.revoked = true // somebody has it twice
		return nil, ""
	}
	c.grant = &grant{user: c.user, id: rand.Text(), at: s.now()}
	v := f.Get("code_verifier")
	if s.now().After(c.ends) || f.Get("redirect_uri") != s.page.App || !verifier.MatchString(v) ||
		subtle.ConstantTimeCompare([]byte(digest(v)), []byte(c.challenge)) != 1 {
		return nil, ""
	}
	return c.grant, c.nonce
}

// byRefresh lets a refresh token be used for a last time.
func (s *Server) byRefresh(id string) *grant {
	t := s.refresh[id]
	if t == nil || t.revoked || s.now().After(t.ends) {
		return nil
	}
	if last := s.now().Add(names.PageRefreshGrace); last.Before(t.ends) {
		t.ends = last
	}
	return t.grant
}

// tokens signs them. An ID token from a refresh has no nonce.
func (s *Server) tokens(g *grant, nonce string) (answer, error) {
	now := s.now()
	common := func(use string) map[string]any {
		return map[string]any{"sub": g.user, "iss": s.page.Issuer, "token_use": use, "origin_jti": g.id, "jti": rand.Text(),
			"auth_time": g.at.Unix(), "iat": now.Unix(), "exp": now.Add(names.PageAccess).Unix()}
	}
	access, id := common("access"), common("id")
	access["client_id"], access["scope"], access["username"], access["version"] = s.page.Client, s.page.Scope, g.user, 2
	id["aud"], id["cognito:username"] = s.page.Client, g.user
	if nonce != "" {
		id["nonce"] = nonce
	}
	a := answer{Type: "Bearer", Expires: int(names.PageAccess / time.Second)}
	var err error
	if a.Access, err = s.issuer.Sign(access); err != nil {
		return a, err
	}
	a.ID, err = s.issuer.Sign(id)
	return a, err
}

// revoke ends a refresh token and all that came of the same signing in. A token
// that is not known is no error (RFC 7009).
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	f, ok := s.fields(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	if t := s.refresh[f.Get("token")]; t != nil {
		t.revoked = true
	}
	s.mu.Unlock()
	w.WriteHeader(http.StatusOK)
}
