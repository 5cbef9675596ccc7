package typeset

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// fontFile finds a pinned font, skipping the test when it is not installed.
func fontFile(t testing.TB, pkg, file string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	p := filepath.Join(dir, "node_modules", "@expo-google-fonts", pkg, "400Regular", file)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("font %s is not installed", file)
	}
	return p
}

var parsed sync.Map

func loadFace(t testing.TB, pkg, file string) *Face {
	t.Helper()
	p := fontFile(t, pkg, file)
	if f, ok := parsed.Load(p); ok {
		return f.(*Face)
	}
	data, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Store(p, f)
	return f
}

// facesInOrder offers its faces to every query.
type facesInOrder []*Face

func (fs facesInOrder) Find(q Query) (*Face, error) {
next:
	for _, f := range fs {
		for _, r := range q.Text {
			if !f.Has(r) {
				continue next
			}
		}
		return f, nil
	}
	return nil, nil
}

// world is a set of faces that covers the scripts of the tests.
func world(t testing.TB) facesInOrder {
	t.Helper()
	return facesInOrder{
		loadFace(t, "noto-sans", "NotoSans_400Regular.ttf"),
		loadFace(t, "noto-naskh-arabic", "NotoNaskhArabic_400Regular.ttf"),
		loadFace(t, "noto-sans-tamil", "NotoSansTamil_400Regular.ttf"),
		loadFace(t, "noto-sans-sinhala", "NotoSansSinhala_400Regular.ttf"),
		loadFace(t, "noto-sans-bengali", "NotoSansBengali_400Regular.ttf"),
		loadFace(t, "noto-sans-devanagari", "NotoSansDevanagari_400Regular.ttf"),
		loadFace(t, "noto-sans-gurmukhi", "NotoSansGurmukhi_400Regular.ttf"),
		loadFace(t, "noto-emoji", "NotoEmoji_400Regular.ttf"),
	}
}

func plainSpan(s string) []Span { return []Span{{Text: s, Style: Style{Size: 10}}} }
