package poseworker

import (
	"encoding/json"
	"net"
	"net/http"
	"testing"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/names"
)

func TestHealth(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	r := start(t, depsFor(w, w.DB, &sight{chunks: 2, before: at(1, g.wait)}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go r.Serve(ln)
	health := func() (int, Health) {
		res, err := http.Get("http://" + ln.Addr().String() + names.HealthPath)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var h Health
		if err := json.NewDecoder(res.Body).Decode(&h); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, h
	}
	<-g.at
	if code, h := health(); code != 200 || h != (Health{Status: "ok", Busy: 1, Passes: 2}) {
		t.Errorf("busy: %d %+v", code, h)
	}
	r.term()
	<-r.done
	if code, h := health(); code != 503 || h.Status != "stopping" || h.Busy != 0 {
		t.Errorf("leaving: %d %+v", code, h)
	}
}

func TestListenAddress(t *testing.T) {
	for _, c := range []struct{ listen, endpoint, want string }{
		{"", "", ":8080"},
		{"", "https://vpce-1.amazonaws.com", ":8080"},
		{"", "http://127.0.0.1:4566", "127.0.0.1:0"},
		{"", "http://localhost:4566", "127.0.0.1:0"},
		{"127.0.0.1:9000", "http://127.0.0.1:4566", "127.0.0.1:9000"},
	} {
		t.Setenv(names.EnvListen, c.listen)
		t.Setenv("AWS_ENDPOINT_URL", c.endpoint)
		if got := ListenAddress(); got != c.want {
			t.Errorf("listen %q, endpoint %q: %s, want %s", c.listen, c.endpoint, got, c.want)
		}
	}
}
