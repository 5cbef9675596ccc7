package signin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fastbowlinglab/integration/local/signin"
	"fastbowlinglab/shared/names"
)

// The client without a browser gets tokens that are good, and says what refused it.
func TestSession(t *testing.T) {
	w := newWorld(t)
	s, err := signin.Open(t.Context(), w.page, "athlete-7")
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil || claims["sub"] != "athlete-7" || claims["client_id"] != w.page.Client {
		t.Errorf("%v, %v", claims, err)
	}
	if again, err := s.Token(t.Context()); err != nil || again != token {
		t.Errorf("a token that is good was replaced: %v", err)
	}
	for range 3 { // by the newest refresh token: the ones before have ended
		w.pass(names.PageRefreshGrace + time.Second)
		signin.Lapse(s)
		if next, err := s.Token(t.Context()); err != nil || next == token {
			t.Errorf("a token that has ended was not replaced: %v", err)
		}
	}
	w.pass(names.PageRefresh)
	signin.Lapse(s)
	if _, err := s.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("after the sign-in's end: %v", err)
	}
	if _, err := signin.Open(t.Context(), w.page, "no name"); err == nil {
		t.Error("a name that cannot be signed in")
	}
	wrong := w.page
	wrong.App += "x"
	if _, err := signin.Open(t.Context(), wrong, "athlete-7"); err == nil || strings.Contains(err.Error(), "code_challenge") {
		t.Errorf("another address: %v", err)
	}
	wrong = w.page
	wrong.Scope = "openid email"
	if _, err := signin.Open(t.Context(), wrong, "athlete-7"); err == nil || !strings.Contains(err.Error(), "invalid_scope") {
		t.Errorf("another scope: %v", err)
	}
}
