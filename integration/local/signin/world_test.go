package signin_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/integration/local/signin"
	"fastbowlinglab/shared/names"
)

// RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// world is the stand-in and a browser without a page.
type world struct {
	t    *testing.T
	page names.Page
	http *http.Client
	mu   sync.Mutex
	at   time.Time // what the stand-in's clock shows
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, at: time.Now()}
	issuer, err := httpapi.OpenIssuer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	w.page = names.NewPage("https://app.example.com/app/", "https://api.example.com", "https://media.example.com", httpapi.IssuerURL, httpapi.PageClientID,
		"http://"+server.Listener.Addr().String())
	server.Config.Handler = signin.New(w.page, issuer, "athlete-1", func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.at
	})
	server.Start()
	t.Cleanup(server.Close)
	w.fresh()
	return w
}

// fresh makes the browser a new one.
func (w *world) fresh() {
	jar, _ := cookiejar.New(nil)
	w.http = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// answer is what came back, read whole.
type answer struct {
	status int
	to     *url.URL // nil when it leads nowhere
	body   string
	header http.Header
}

func (w *world) do(method, address string, form url.Values) answer {
	w.t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	to, _ := resp.Location()
	return answer{resp.StatusCode, to, string(b), resp.Header}
}

// request is a good authorization request; changes replace parameters, "" drops one.
func (w *world) request(changes ...string) url.Values {
	q := url.Values{"response_type": {"code"}, "client_id": {w.page.Client}, "redirect_uri": {w.page.App}, "scope": {"openid"},
		"state": {"s&1"}, "nonce": {"n-1"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}
	return change(q, changes)
}

func change(q url.Values, changes []string) url.Values {
	for i := 0; i+1 < len(changes); i += 2 {
		q.Del(changes[i])
		if changes[i+1] != "" {
			q.Set(changes[i], changes[i+1])
		}
	}
	return q
}

// code signs in and gives the code.
func (w *world) code() string {
	w.t.Helper()
	a := w.do("POST", w.login(w.request()), url.Values{"user": {"ada@example.com"}, "do": {"sign-in"}})
	if a.to == nil || !strings.HasPrefix(a.to.String(), w.page.App+"?") || a.to.Query().Get("state") != "s&1" || a.to.Query().Get("code") == "" {
		w.t.Fatalf("signing in answered %+v", a)
	}
	return a.to.Query().Get("code")
}

func (w *world) login(q url.Values) string {
	return strings.TrimSuffix(w.page.Logout, "/logout") + "/login?" + q.Encode()
}

// exchange asks for tokens by a code.
func (w *world) exchange(code string, changes ...string) answer {
	w.t.Helper()
	return w.do("POST", w.page.Token, change(url.Values{"grant_type": {"authorization_code"}, "client_id": {w.page.Client}, "code": {code},
		"redirect_uri": {w.page.App}, "code_verifier": {verifier}}, changes))
}

func (w *world) renew(refresh string) answer {
	w.t.Helper()
	return w.do("POST", w.page.Token, url.Values{"grant_type": {"refresh_token"}, "client_id": {w.page.Client}, "refresh_token": {refresh}})
}

// tokens reads a good answer of the token endpoint.
func (w *world) tokens(a answer) (id, access jwt.MapClaims, refresh string) {
	w.t.Helper()
	var got struct {
		ID      string `json:"id_token"`
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Expires int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusOK || got.Expires != int(names.PageAccess.Seconds()) {
		w.t.Fatalf("the token endpoint answered %+v: %v", a, err)
	}
	id, access = jwt.MapClaims{}, jwt.MapClaims{}
	for raw, claims := range map[string]jwt.MapClaims{got.ID: id, got.Access: access} {
		if _, _, err := jwt.NewParser().ParseUnverified(raw, claims); err != nil {
			w.t.Fatal(err)
		}
	}
	return id, access, got.Refresh
}
