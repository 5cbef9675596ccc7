package poseworker

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// rotating gives credentials with the lives listed, one after another.
type rotating struct {
	lives []time.Duration
	n     int
}

func (r *rotating) Retrieve(context.Context) (aws.Credentials, error) {
	life := r.lives[min(r.n, len(r.lives)-1)]
	r.n++
	c := aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret", SessionToken: "session"}
	if life != 0 {
		c.CanExpire, c.Expires = true, time.Now().Add(life)
	}
	return c, nil
}

// Field case 20: a URL dies with the credentials that signed it.
func TestURLSigner(t *testing.T) {
	for _, c := range []struct {
		name  string
		lives []time.Duration
		want  time.Duration
		calls int
	}{
		{"LongLived", []time.Duration{0}, 3 * time.Hour, 1},
		{"EndEarlier", []time.Duration{time.Hour}, time.Hour, 1},
		{"EndSoonAreFetchedAnew", []time.Duration{5 * time.Minute, 6 * time.Hour}, 3 * time.Hour, 2},
		{"EndSoonAndNoOthers", []time.Duration{5 * time.Minute}, 5 * time.Minute, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rotating{lives: c.lives}
			cache := aws.NewCredentialsCache(r)
			client := s3.New(s3.Options{Region: "us-east-1", Credentials: cache, UsePathStyle: true})
			s := URLSigner{Client: s3.NewPresignClient(client), Bucket: "b", Credentials: cache}
			link, until, err := s.Sign(t.Context(), "clips/an-1/0", "v7", 3*time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			if u.Path != "/b/clips/an-1/0" || u.Query().Get("versionId") != "v7" {
				t.Errorf("URL of %s, version %s", u.Path, u.Query().Get("versionId"))
			}
			life, err := time.ParseDuration(u.Query().Get("X-Amz-Expires") + "s")
			if err != nil || life > c.want || life < c.want-5*time.Second || time.Until(until) > c.want {
				t.Errorf("life %v (%v), until %v; want %v", life, err, until, c.want)
			}
			if r.n != c.calls {
				t.Errorf("%d fetches, want %d", r.n, c.calls)
			}
		})
	}
}

func TestTaskProtection(t *testing.T) {
	var got []map[string]any
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m map[string]any
		if r.Method != http.MethodPut || r.URL.Path != "/task-protection/v1/state" || json.Unmarshal(body, &m) != nil {
			t.Errorf("%s %s %s", r.Method, r.URL, body)
		}
		got = append(got, m)
		w.WriteHeader(status)
	}))
	defer srv.Close()
	p := TaskProtection{AgentURI: srv.URL, Client: srv.Client()}
	for _, on := range []bool{true, false} {
		if err := p.Protect(t.Context(), on); err != nil {
			t.Fatal(err)
		}
	}
	if got[0]["ProtectionEnabled"] != true || got[0]["ExpiresInMinutes"] != 120.0 || got[1]["ProtectionEnabled"] != false {
		t.Errorf("sent %v", got)
	}
	status = http.StatusBadRequest
	if err := p.Protect(t.Context(), true); err == nil {
		t.Error("a refusal is an error")
	}
}
