package local

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/integration/local/signin"
	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

// openIssuer opens the user pool, whose key stays with the state.
func (c *Cloud) openIssuer() error {
	dir := c.state("users")
	if dir == "" {
		tmp, err := os.MkdirTemp("", "fbl-users-")
		if err != nil {
			return err
		}
		c.later(func() error { return os.RemoveAll(tmp) })
		dir = tmp
	}
	issuer, err := httpapi.OpenIssuer(filepath.Clean(dir))
	c.issuer = issuer
	return err
}

// AthleteToken makes an access token of an athlete.
func (c *Cloud) AthleteToken(athlete string, ttl time.Duration) (string, error) {
	return c.issuer.Token(athlete, nil, ttl)
}

// OperatorToken makes an access token of an operator.
func (c *Cloud) OperatorToken(operator string, ttl time.Duration) (string, error) {
	return c.issuer.Token(operator, []string{names.OperatorGroup}, ttl)
}

// Page is what the web page is told of this cloud.
func (c *Cloud) Page() names.Page {
	return names.NewPage(c.API+web.Path, c.API, c.Endpoint, httpapi.IssuerURL, httpapi.PageClientID, c.SignIn)
}

// OpenSession signs an athlete in as the web page does, and keeps signed in.
func (c *Cloud) OpenSession(ctx context.Context, athlete string) (*signin.Session, error) {
	return signin.Open(ctx, c.Page(), athlete)
}
