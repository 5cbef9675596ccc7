package faults

import (
	"regexp"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// claims is what was seen of one paid effect: its row, and by fence what became
// of each claim.
type claims struct {
	State     string `dynamodbav:"state"`
	Fence     int64  `dynamodbav:"fence"`
	Takeovers int    `dynamodbav:"takeovers"`

	free map[int64]bool // given back, by fence
}

var modelEffect = regexp.MustCompile(`"effect":\{"S":"(model#[^"]+)"\}`)

// effect looks at the row of a paid effect after a write.
func (o *observer) effect(c *virtual.Cloud, key string) {
	it, err := item(c, names.Effects, map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: key}})
	if err != nil || it == nil {
		return
	}
	e := o.effects[key]
	if e == nil {
		e = &claims{free: map[int64]bool{}}
		o.effects[key] = e
	}
	if err := attributevalue.UnmarshalMap(it, e); err != nil {
		o.violation("I9", "effect %s: %v", key, err)
		return
	}
	if e.State == "free" {
		e.free[e.Fence] = true
	}
}

// bill is what a paid effect came to.
type bill struct {
	calls     int // that the provider saw
	takeovers int
	unsent    int // claims that ended, or whose process did, before the provider saw a request
	back      int // claims that were given back, and claimed again
}

// extra is how many calls there were beyond the first.
func (b bill) extra() int { return max(0, b.calls-1) }

// settle adds one effect up. Every claim beyond the first is a takeover or follows
// one that was given back; every claim is a call, was given back, or reached
// nobody. So the extra calls are the takeovers, less the claims that reached
// nobody.
func (o *observer) settle(key string, e *claims, calls map[int64]int) bill {
	b := bill{takeovers: e.Takeovers}
	for f := int64(1); f <= e.Fence; f++ {
		b.calls += calls[f]
		switch {
		case e.free[f] && calls[f] > 0:
			o.violation("I5", "claim %d of %s was given back although its call was made", f, key)
		case e.free[f] && f < e.Fence:
			b.back++
		case !e.free[f] && calls[f] == 0:
			b.unsent++
		}
	}
	if int(e.Fence)-1 != e.Takeovers+b.back {
		o.violation("I5", "%s was claimed %d times, after %d takeovers and %d claims given back", key, e.Fence, e.Takeovers, b.back)
	}
	if b.calls > 0 && b.extra() != e.Takeovers-b.unsent {
		o.violation("I5", "%d extra calls for %s after %d takeovers, of which %d found a claim that had reached nobody", b.extra(), key, e.Takeovers, b.unsent)
	}
	if e.State == "done" && e.Takeovers == 0 && b.calls != 1 {
		o.violation("I5", "%d calls for %s, whose outcome was never unknown", b.calls, key)
	}
	return b
}
