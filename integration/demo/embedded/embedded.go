// Package embedded points the main job at an embedded cloud.
package embedded

import (
	"context"
	"sync"
	"time"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/signin"
)

// tokenLife is how long the operator's token is good: longer than every run on an embedded cloud.
const tokenLife = 12 * time.Hour

// Config is the main job of a clip on c: with an operator who gives credit, with
// notices and the time by stage. Key makes another submission of the same clip;
// dir holds its state.
func Config(c *local.Cloud, clip, key, dir string) demo.Config {
	return demo.Config{
		API:      c.API,
		Athlete:  func(sub string) demo.Token { return signedIn(c, sub) },
		Operator: func(context.Context) (string, error) { return c.OperatorToken("operator", tokenLife) },
		Cloud:    &demo.Cloud{AWS: c.AWS(), StateMachineARN: local.StateMachineARN},
		Clip:     clip, Key: key, Dir: dir,
	}
}

// signedIn signs an athlete in at the first use, by the user pool's pages and
// OAuth's code, as the web page does; tokens end after minutes and are renewed.
func signedIn(c *local.Cloud, sub string) demo.Token {
	var (
		mu   sync.Mutex
		open *signin.Session
	)
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if open == nil {
			s, err := c.OpenSession(ctx, sub)
			if err != nil {
				return "", err
			}
			open = s
		}
		return open.Token(ctx)
	}
}
