package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"fastbowlinglab/integration/local/signin"
	"fastbowlinglab/shared/names"
)

// watch notes what is asked of the user pool, and lets a test answer in its place.
func (c *cloud) watch() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		pool, tamper := c.signIn, c.tamper
		c.mu.Unlock()
		if tamper != nil && tamper(w, r) {
			return
		}
		if r.URL.Path != names.PathToken && r.URL.Path != names.PathRevoke {
			pool.ServeHTTP(w, r)
			return
		}
		var form bytes.Buffer
		_, _ = form.ReadFrom(r.Body)
		r.Body = nopCloser{bytes.NewReader(form.Bytes())}
		answer := httptest.NewRecorder()
		pool.ServeHTTP(answer, r)
		q, _ := url.ParseQuery(form.String())
		var got struct {
			Refresh string `json:"refresh_token"`
		}
		_ = json.Unmarshal(answer.Body.Bytes(), &got)
		c.mu.Lock()
		if r.URL.Path == names.PathRevoke {
			c.revoked = append(c.revoked, q.Get("token"))
		} else {
			c.grants = append(c.grants, q.Get("grant_type"))
		}
		if got.Refresh != "" {
			c.refresh = got.Refresh
		}
		c.mu.Unlock()
		for k, v := range answer.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// forged is a token that nobody signed.
func forged(claims map[string]any) string {
	b, _ := json.Marshal(claims)
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." + base64.RawURLEncoding.EncodeToString(b) + ".eA"
}

type nopCloser struct{ *bytes.Reader }

func (nopCloser) Close() error { return nil }

// asked gives the kinds of requests for tokens so far.
func (c *cloud) asked() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.grants, " ")
}

// ended tells whether a refresh token was revoked by its own name, and is.
func (c *cloud) ended(refresh string) bool {
	c.mu.Lock()
	named := slices.Contains(c.revoked, refresh)
	c.mu.Unlock()
	return named && !c.good(refresh)
}

// good tells whether the pool still takes a refresh token.
func (c *cloud) good(refresh string) bool {
	resp, err := http.PostForm(c.page.Token, url.Values{"grant_type": {"refresh_token"}, "client_id": {c.page.Client}, "refresh_token": {refresh}})
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (c *cloud) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refresh
}

func (c *cloud) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// move has the user pool know the page at another address.
func (c *cloud) move(page names.Page) {
	c.set(func() { c.page, c.signIn = page, signin.New(page, c.issuer, "athlete-1", nil) })
}

// cors is the API for pages of any origin, with the rule that a deployment has.
func (c *cloud) cors(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", strings.Join(names.CORSExpose, ","))
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Headers", strings.Join(names.CORSHeaders, ","))
		h.Set("Access-Control-Allow-Methods", strings.Join(names.CORSMethods, ","))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c.serve(w, r)
}
