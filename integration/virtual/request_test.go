package virtual

import "testing"

func TestMask(t *testing.T) {
	const owner, suffix = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ABCDEFGH23"
	for in, want := range map[string]string{
		`{"S":"` + owner + `"}`:                                   `{"S":"*"}`,
		`{"S":"host-1/4711/` + suffix + `"}`:                      `{"S":"*"}`,
		`a` + owner + `b` + owner:                                 `a*b*`,
		`{"S":"` + owner + `","T":"h/1/` + suffix + `","U":"x"}`:  `{"S":"*","T":"*","U":"x"}`,
		`{"S":"` + suffix + `"}`:                                  `{"S":"` + suffix + `"}`, // no host
		`{"S":"a/b/` + suffix + `"}`:                              `{"S":"a/b/` + suffix + `"}`,
		`an-kryn65l57qpjjnn4t3iezi6q4g ReturnValues ALL_NEW /1//`: `an-kryn65l57qpjjnn4t3iezi6q4g ReturnValues ALL_NEW /1//`,
		"": "",
	} {
		if got := mask(in); got != want {
			t.Errorf("mask(%q) = %q, want %q", in, got, want)
		}
	}
}
