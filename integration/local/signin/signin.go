package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"

	"fastbowlinglab/shared/names"
)

// Limits of the stand-in. Cognito's codes are good for five minutes, its pages
// remember people for an hour.
const (
	codeLife    = 5 * time.Minute
	sessionLife = time.Hour
	maxBody     = 16 << 10
	maxKept     = 10_000 // codes, sessions, refresh tokens
)

// Issuer signs tokens; httpapi.Issuer is one.
type Issuer interface {
	Sign(claims map[string]any) (string, error)
}

// Server is the stand-in. It is an http.Handler.
type Server struct {
	page    names.Page
	issuer  Issuer
	suggest string
	now     func() time.Time
	mux     *http.ServeMux

	mu       sync.Mutex
	sessions map[string]session
	codes    map[string]*code
	refresh  map[string]*refresh
}

// session is a browser that the pages remember.
type session struct {
	user string
	ends time.Time
}

// code is an authorization code and what it was given for.
type code struct {
	user, challenge, nonce string
	ends                   time.Time
	grant                  *grant // once it was used
}

// grant is what one signing in led to; all its tokens end together.
type grant struct {
	user, id string
	at       time.Time
	revoked  bool
}

// refresh is a refresh token.
type refresh struct {
	*grant
	ends time.Time
}

// New makes a stand-in for the client of a page. suggest is the name that its form
// starts with; now is the clock, time.Now where it is nil.
func New(page names.Page, issuer Issuer, suggest string, now func() time.Time) *Server {
	if now == nil {
		now = time.Now
	}
	s := &Server{page: page, issuer: issuer, suggest: suggest, now: now, mux: http.NewServeMux(),
		sessions: map[string]session{}, codes: map[string]*code{}, refresh: map[string]*refresh{}}
	s.mux.HandleFunc("GET "+names.PathAuthorize, s.authorize)
	s.mux.HandleFunc("GET /login", s.form)
	s.mux.HandleFunc("POST /login", s.login)
	s.mux.HandleFunc("POST "+names.PathToken, s.token)
	s.mux.HandleFunc("POST "+names.PathRevoke, s.revoke)
	s.mux.HandleFunc("GET "+names.PathLogout, s.logout)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.mux.ServeHTTP(w, r)
}

// wrong says what is wrong with an authorization request: page is text for the
// person, where nobody may be redirected; code is OAuth's name of an error that
// goes to the client.
func (s *Server) wrong(q url.Values) (page, code string) {
	for k, v := range q {
		if len(v) > 1 {
			return k + " is there twice", ""
		}
	}
	switch {
	case q.Get("client_id") != s.page.Client:
		return "the client is unknown", ""
	case q.Get("redirect_uri") != s.page.App:
		return "redirect_mismatch: redirect_uri is not the page's address", ""
	case q.Get("response_type") != "code":
		return "", "unauthorized_client" // the implicit grant is off
	case q.Get("scope") != s.page.Scope:
		return "", "invalid_scope"
	case q.Get("code_challenge_method") != "S256" || !challenge.MatchString(q.Get("code_challenge")):
		return "", "invalid_request"
	}
	return "", ""
}

// challenge is what SHA-256 in base64url looks like; verifier what RFC 7636 allows.
var (
	challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	verifier  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)
	person    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9@._-]{0,127}$`)
)

func digest(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return encode(sum[:])
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// back redirects to the page, with the state that the request came with.
func (s *Server) back(w http.ResponseWriter, r *http.Request, q url.Values, answer url.Values) {
	if st := q.Get("state"); st != "" {
		answer.Set("state", st)
	}
	http.Redirect(w, r, s.page.App+"?"+answer.Encode(), http.StatusFound)
}

// begin checks an authorization request; false when it was answered.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, q url.Values) bool {
	page, code := s.wrong(q)
	switch {
	case page != "":
		show(w, http.StatusBadRequest, view{Trouble: "This sign-in cannot go on: " + page + "."})
	case code != "":
		s.back(w, r, q, url.Values{"error": {code}, "error_description": {"stand-in"}})
	}
	return page == "" && code == ""
}

// authorize asks who it is, or knows by the cookie.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !s.begin(w, r, q) {
		return
	}
	if c, err := r.Cookie(cookie); err == nil {
		s.mu.Lock()
		known, ok := s.sessions[c.Value]
		s.mu.Unlock()
		if ok && s.now().Before(known.ends) {
			s.grantCode(w, r, q, known.user)
			return
		}
	}
	http.Redirect(w, r, "/login?"+r.URL.RawQuery, http.StatusFound)
}

// grantCode sends a code to the page.
func (s *Server) grantCode(w http.ResponseWriter, r *http.Request, q url.Values, user string) {
	id := rand.Text()
	s.mu.Lock()
	s.forget()
	full := len(s.codes) >= maxKept
	if !full {
		s.codes[id] = &code{user: user, challenge: q.Get("code_challenge"), nonce: q.Get("nonce"), ends: s.now().Add(codeLife)}
	}
	s.mu.Unlock()
	if full {
		s.back(w, r, q, url.Values{"error": {"temporarily_unavailable"}})
		return
	}
	s.back(w, r, q, url.Values{"code": {id}})
}

// forget drops what has ended. A used code stays known as long as a refresh token
// of it could be: its second use must be seen.
func (s *Server) forget() {
	now := s.now()
	for k, v := range s.sessions {
		if now.After(v.ends) {
			delete(s.sessions, k)
		}
	}
	for k, v := range s.codes {
		if now.After(v.ends) && (v.grant == nil || now.After(v.grant.at.Add(names.PageRefresh))) {
			delete(s.codes, k)
		}
	}
	for k, v := range s.refresh {
		if now.After(v.ends) || v.revoked {
			delete(s.refresh, k)
		}
	}
}
