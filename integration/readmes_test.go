// Package integration_test holds the documents of the tree against the tree.
package integration_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module, from here.
const root = ".."

// passed are folders that hold nothing of ours.
var passed = []string{"node_modules", ".git", ".local", "cdk.out"}

// texts reads the files that end so, by their path from the root.
func texts(t *testing.T, ending string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(passed, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ending):
			return nil
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// each calls found with every match of a pattern's groups in every document.
func each(t *testing.T, pattern string, found func(doc string, groups []string)) {
	t.Helper()
	re, n := regexp.MustCompile(pattern), 0
	for doc, text := range texts(t, ".md") {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			n++
			found(doc, m[1:])
		}
	}
	if n < 10 {
		t.Fatalf("only %d matches: the search is broken", n)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A test that a document names is there; after -run it may be the beginning of
// several.
func TestDocumentsNameTests(t *testing.T) {
	declared := map[string]bool{}
	fn := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, text := range texts(t, "_test.go") {
		for _, m := range fn.FindAllStringSubmatch(text, -1) {
			declared[m[1]] = true
		}
	}
	begins := func(start string) bool {
		for name := range declared {
			if strings.HasPrefix(name, start) {
				return true
			}
		}
		return false
	}
	word := regexp.MustCompile(`\bTest[A-Z]\w*`)
	each(t, `-run\s+(\S+)|\b(Test[A-Z]\w*)`, func(doc string, m []string) {
		for _, start := range word.FindAllString(m[0], -1) {
			if !begins(start) {
				t.Errorf("%s runs %s, with which no test begins", doc, start)
			}
		}
		if m[1] != "" && !declared[m[1]] {
			t.Errorf("%s names %s, which is no test", doc, m[1])
		}
	})
}

// A command of make that a document gives is one of the Makefile's.
func TestDocumentsNameCommands(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile(`(?m)^([a-z-]+):`)
	var targets []string
	for _, m := range target.FindAllStringSubmatch(string(b), -1) {
		targets = append(targets, m[1])
	}
	each(t, "(?m)(?:`|^    )make ([a-z-]+)", func(doc string, m []string) {
		if !slices.Contains(targets, m[0]) {
			t.Errorf("%s gives `make %s`, which the Makefile has not", doc, m[0])
		}
	})
}

// A package that a document tests or runs is there.
func TestDocumentsNamePackages(t *testing.T) {
	each(t, `go (?:test|run|build|vet)[^\n|]*? \./([\w/]+)`, func(doc string, m []string) {
		if !exists(filepath.Join(root, m[0])) {
			t.Errorf("%s names the package %s, which is not there", doc, m[0])
		}
	})
}

// A link to a file leads to one.
func TestDocumentsLinkToFiles(t *testing.T) {
	each(t, `\]\(([^)#:\s]+)(?:#[^)]*)?\)`, func(doc string, m []string) {
		if !exists(filepath.Join(filepath.Dir(doc), m[0])) {
			t.Errorf("%s links to %s, which is not there", doc, m[0])
		}
	})
}
