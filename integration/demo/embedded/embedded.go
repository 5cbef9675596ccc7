// Package embedded points the main job at an embedded cloud.
package embedded

import (
	"context"
	"time"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/local"
)

// tokenLife outlasts every run on an embedded cloud.
const tokenLife = 12 * time.Hour

// Config is the main job of a clip on c: with an operator who gives credit, with
// notices and the time by stage. Key makes another submission of the same clip;
// dir holds its state.
func Config(c *local.Cloud, clip, key, dir string) demo.Config {
	return demo.Config{
		API: c.API,
		Athlete: func(sub string) demo.Token {
			return func(context.Context) (string, error) { return c.AthleteToken(sub, tokenLife) }
		},
		Operator: func(context.Context) (string, error) { return c.OperatorToken("operator", tokenLife) },
		Cloud:    &demo.Cloud{AWS: c.AWS(), StateMachineARN: local.StateMachineARN},
		Clip:     clip, Key: key, Dir: dir,
	}
}
