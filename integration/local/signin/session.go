package signin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/shared/names"
)

// Session is somebody signed in as the web page signs people in, without a
// browser. It is safe for concurrent use.
type Session struct {
	page names.Page
	http *http.Client

	mu              sync.Mutex
	access, refresh string
	until           time.Time
}

// Open signs a user in at the stand-in's pages.
func Open(ctx context.Context, page names.Page, user string) (*Session, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &Session{page: page, http: &http.Client{Jar: jar, Timeout: 10 * time.Second}}
	s.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), page.App+"?") {
			return http.ErrUseLastResponse // the answer is for us, not for the page
		}
		return nil
	}
	if err := s.signIn(ctx, user); err != nil {
		return nil, fmt.Errorf("sign in %s: %w", user, err)
	}
	return s, nil
}

func (s *Session) signIn(ctx context.Context, user string) error {
	state, nonce, verifier := secret(), secret(), secret()
	q := url.Values{"response_type": {"code"}, "client_id": {s.page.Client}, "redirect_uri": {s.page.App}, "scope": {s.page.Scope},
		"state": {state}, "nonce": {nonce}, "code_challenge": {digest(verifier)}, "code_challenge_method": {"S256"}}
	form, err := s.send(ctx, http.MethodGet, s.page.Authorize+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	done := form
	if form.StatusCode == http.StatusOK {
		if done, err = s.send(ctx, http.MethodPost, form.Request.URL.String(), url.Values{"user": {user}, "do": {"sign-in"}}); err != nil {
			return err
		}
	}
	to, err := done.Location()
	if err != nil {
		return fmt.Errorf("the sign-in page answered %d and leads nowhere", done.StatusCode)
	}
	got := to.Query()
	switch {
	case got.Get("state") != state:
		return errors.New("the answer is for somebody else's request")
	case got.Get("code") == "":
		return fmt.Errorf("refused: %s", got.Get("error"))
	}
	return s.exchange(ctx, url.Values{"grant_type": {"authorization_code"}, "code": {got.Get("code")}, "redirect_uri": {s.page.App}, "code_verifier": {verifier}})
}

// Token gives an access token that is good for some minutes.
func (s *Session) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.until) {
		return s.access, nil
	}
	err := s.exchange(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.refresh}})
	return s.access, err
}

func (s *Session) exchange(ctx context.Context, f url.Values) error {
	f.Set("client_id", s.page.Client)
	resp, err := s.send(ctx, http.MethodPost, s.page.Token, f)
	if err != nil {
		return err
	}
	var a struct {
		answer
		Error string `json:"error"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the token endpoint answered %d %s", resp.StatusCode, a.Error)
	}
	s.access, s.refresh = a.Access, a.Refresh
	s.until = time.Now().Add(time.Duration(a.Expires)*time.Second - time.Minute)
	return nil
}

// send sends a form, or asks for a page, and gives the answer with its body read.
func (s *Session) send(ctx context.Context, method, address string, form url.Values) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which holds the request's secrets
		}
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	resp.Body = io.NopCloser(strings.NewReader(string(b)))
	return resp, err
}

// secret is 43 characters of 256 random bits, as base64url.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return encode(b[:])
}
