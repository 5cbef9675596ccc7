// Package web is the athlete's page: one static page that has people sign in at
// the user pool, uploads a clip with its progress, shows the stages as they come
// and the report with its pictures. The embedded cloud serves it; for a deployment
// it is written into a folder that any static host can serve.
package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"fastbowlinglab/shared/names"
)

//go:embed page
var files embed.FS

// Path is where the embedded cloud serves the page, on the API's own origin.
const Path = "/app/"

// ConfigFile is where the page finds what it is told of its deployment.
const ConfigFile = "config.json"

// Policy is the page's Content-Security-Policy. Beside its own files it may reach
// the API, the bucket, and of the user pool's domain the two addresses that take
// its tokens; everything else there is for the browser to go to, not for a script.
func Policy(page names.Page) string {
	return fmt.Sprintf("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' %s %s %s %s; img-src 'self' %[2]s; "+
		"base-uri 'none'; form-action 'none'", page.API, page.Storage, page.Token, page.Revoke)
}

// Headers are what a host must send with each file. The policy's last part works
// in a header alone; the rest of it is in the written page too.
func Headers(page names.Page) map[string]string {
	return map[string]string{
		"Content-Security-Policy":      Policy(page) + "; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cache-Control":                "no-store",
	}
}

// all gives the page's files, config.json among them.
func all(page names.Page) (map[string][]byte, error) {
	if err := page.Check(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	config, err := json.MarshalIndent(page, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	out := map[string][]byte{ConfigFile: append(config, '\n')}
	list, err := fs.ReadDir(files, "page")
	for _, f := range list {
		if out[f.Name()], err = files.ReadFile("page/" + f.Name()); err != nil {
			break
		}
	}
	return out, err
}

// Handler serves the page under Path.
func Handler(page names.Page) (http.Handler, error) {
	content, err := all(page)
	if err != nil {
		return nil, err
	}
	root, err := fs.Sub(files, "page")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.StripPrefix(strings.TrimSuffix(Path, "/"), http.FileServerFS(root)))
	mux.HandleFunc("GET "+Path+ConfigFile, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(content[ConfigFile]) // a client that went away needs no answer
	})
	headers := Headers(page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range headers {
			w.Header().Set(k, v)
		}
		mux.ServeHTTP(w, r)
	}), nil
}

// head is where the written page gets its policy: before anything is loaded.
const head = `<meta charset="utf-8">`

// Write puts the page into a folder, for a static host at page.App. The policy is
// in it: a host that sends no headers serves a page that is held to it all the same.
func Write(dir string, page names.Page) error {
	content, err := all(page)
	if err != nil {
		return err
	}
	index := content["index.html"]
	with := bytes.Replace(index, []byte(head), []byte(head+"\n"+`<meta http-equiv="Content-Security-Policy" content="`+Policy(page)+`">`), 1)
	if bytes.Equal(index, with) {
		return fmt.Errorf("web: index.html has no %s", head)
	}
	content["index.html"] = with
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	for name, b := range content {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return fmt.Errorf("web: %w", err)
		}
	}
	return nil
}
