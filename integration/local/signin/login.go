package signin

import (
	"crypto/rand"
	"html/template"
	"net/http"
)

// cookie is the pages' memory of who signed in.
const cookie = "fbl-signed-in"

// view is what the form shows.
type view struct {
	Query         template.URL // of the authorization request
	User, Trouble string
}

var pages = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sign in</title></head>
<body><h1>Sign in</h1><p>The embedded cloud's stand-in for the user pool's page. It asks for no password.</p>
{{with .Trouble}}<p id="trouble" role="alert">{{.}}</p>{{end}}
{{if .Query}}<form method="post" action="/login?{{.Query}}"><label>Name <input id="user" name="user" value="{{.User}}" required></label>
<button id="sign-in" name="do" value="sign-in">Sign in</button> <button id="cancel" name="do" value="cancel" formnovalidate>Cancel</button></form>{{end}}
</body></html>
`))

func show(w http.ResponseWriter, status int, v view) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// No form-action: Chromium holds the redirect after the form to it too.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_ = pages.Execute(w, v) // the reader went away
}

func (s *Server) form(w http.ResponseWriter, r *http.Request) {
	if s.begin(w, r, r.URL.Query()) {
		show(w, http.StatusOK, view{Query: template.URL(r.URL.RawQuery), User: s.suggest})
	}
}

// login signs in whoever it is said to be, and remembers the browser.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !s.begin(w, r, q) {
		return
	}
	if err := r.ParseForm(); err != nil {
		show(w, http.StatusBadRequest, view{Trouble: "The form could not be read."})
		return
	}
	if r.PostForm.Get("do") == "cancel" {
		s.back(w, r, q, map[string][]string{"error": {"access_denied"}})
		return
	}
	user := r.PostForm.Get("user")
	if !person.MatchString(user) {
		show(w, http.StatusBadRequest, view{Query: template.URL(r.URL.RawQuery), User: user, Trouble: "A name has letters, digits and @ . _ -"})
		return
	}
	id := rand.Text()
	s.mu.Lock()
	s.forget()
	if len(s.sessions) < maxKept {
		s.sessions[id] = session{user, s.now().Add(sessionLife)}
	}
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	s.grantCode(w, r, q, user)
}

// logout forgets the browser. Tokens that were given stay good, as at Cognito.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("client_id") != s.page.Client || q.Get("logout_uri") != s.page.App {
		show(w, http.StatusBadRequest, view{Trouble: "logout_uri is not the page's address."})
		return
	}
	if c, err := r.Cookie(cookie); err == nil {
		s.mu.Lock()
		delete(s.sessions, c.Value)
		s.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, s.page.App, http.StatusFound)
}
