package infra

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// logRetention is how long logs are kept.
const logRetention = awslogs.RetentionDays_THREE_MONTHS

// duration converts a timer of shared/names, which must be whole seconds.
func duration(d time.Duration) awscdk.Duration {
	if d%time.Second != 0 {
		panic(fmt.Sprintf("infra: %s is not a whole number of seconds", d))
	}
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}

// only picks the variables that a program declares, and fails the synth when
// one has no value: a function must never start with half its settings.
func only(all map[string]*string, wanted []string) *map[string]*string {
	out := map[string]*string{}
	for _, w := range wanted {
		v, ok := all[w]
		if !ok || v == nil {
			panic("infra: no value for the environment variable " + w)
		}
		out[w] = v
	}
	return &out
}
