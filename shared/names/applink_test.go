package names_test

import (
	"testing"

	"fastbowlinglab/shared/names"
)

func TestAppURL(t *testing.T) {
	for _, good := range []string{"", "https://app.example.com", "https://app.example.com/", "https://example.com/bowling/app"} {
		if err := names.CheckAppURL(good); err != nil {
			t.Errorf("%q is refused: %v", good, err)
		}
	}
	for _, bad := range []string{"app.example.com", "http://app.example.com", "https://", "javascript:alert(1)", "https://u:p@app.example.com/",
		"https://app.example.com/?x=1", "https://app.example.com/?", "https://app.example.com/#x", "https://app.example.com/\r\nBcc: x", "https://app.example.com/ x",
		"https://app.example.com/a;b/", "https://app.example.com/it's/", "https://${Bucket}.example.com/", "https://*.example.com/"} { // of which no page could be written
		if names.CheckAppURL(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAppLink(t *testing.T) {
	for _, tc := range [][3]string{
		{"", "an-1", ""},
		{"https://app.example.com/", "an-1", "https://app.example.com/?analysis=an-1"},
		{"https://example.com/app", "an-1&x=2#y", "https://example.com/app?analysis=an-1%26x%3D2%23y"},
	} {
		if got := names.AppLink(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s: %s, want %s", tc[0], got, tc[2])
		}
	}
}
