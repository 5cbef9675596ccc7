// Package web serves the test page: one static page that signs in a test
// athlete, uploads a clip with its progress, shows the stages as they come and
// the report with its pictures.
package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed page
var files embed.FS

// Path is where the page lives, on the API's own origin.
const Path = "/app/"

// Handler serves the page under Path. storage is the origin of uploads and
// reports, which the page may talk to beside its own; token signs the test
// athlete in and exists in the embedded cloud alone.
func Handler(storage string, token func() (string, error)) (http.Handler, error) {
	if strings.ContainsAny(storage, " ;,'\"") {
		return nil, fmt.Errorf("web: storage origin %q", storage)
	}
	page, err := fs.Sub(files, "page")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	policy := fmt.Sprintf("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' %[1]s; img-src 'self' %[1]s; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", storage)
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.StripPrefix(strings.TrimSuffix(Path, "/"), http.FileServerFS(page)))
	mux.HandleFunc("POST "+Path+"token", func(w http.ResponseWriter, _ *http.Request) {
		t, err := token()
		if err != nil {
			http.Error(w, "no token", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"access_token": t}) // a client that went away needs no answer
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	}), nil
}
