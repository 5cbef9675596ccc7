package usage

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"fastbowlinglab/shared/stamp"
)

// Price is what a million tokens of each class cost, in US dollars, from a day
// on until the model's next price. The figures are decimal strings; "" means
// that this class has no price, which is not 0.
type Price struct {
	Model      string `dynamodbav:"model" json:"model"`
	From       string `dynamodbav:"from" json:"from"` // YYYY-MM-DD, UTC
	Input      string `dynamodbav:"input" json:"input"`
	Output     string `dynamodbav:"output" json:"output"`
	CacheRead  string `dynamodbav:"cache_read" json:"cache_read"`
	CacheWrite string `dynamodbav:"cache_write" json:"cache_write"`
	Source     string `dynamodbav:"source" json:"source"`
}

//go:embed prices.json
var shippedJSON []byte

// Shipped are the prices that this release knows. A row of the prices table
// with the same model and day replaces one of them.
func Shipped() []Price {
	var ps []Price
	if err := json.Unmarshal(shippedJSON, &ps); err != nil {
		panic("usage: prices.json: " + err.Error()) // embedded; a test reads it
	}
	return ps
}

// regionPrefix starts the ids of inference profiles; they cost what their model
// costs.
var regionPrefix = regexp.MustCompile(`^(us|us-gov|eu|apac|ap|jp|au|ca|sa|global)\.`)

// baseModel is a model id as the price list has it: no ARN, no region prefix.
func baseModel(model string) string {
	if strings.HasPrefix(model, "arn:") {
		model = model[strings.LastIndexByte(model, '/')+1:]
	}
	return regionPrefix.ReplaceAllString(model, "")
}

// priceAt picks the price that holds at a time: the last one that starts by
// then.
func priceAt(ps []Price, at time.Time) (Price, bool) {
	t := stamp.Format(at)
	var best Price
	for _, p := range ps {
		if p.From <= t && p.From >= best.From {
			best = p
		}
	}
	return best, best.From != ""
}

// merge puts the table's prices over the shipped ones.
func merge(shipped, table []Price) []Price {
	out := slices.Clone(table)
	for _, s := range shipped {
		if !slices.ContainsFunc(table, func(p Price) bool { return p.Model == s.Model && p.From == s.From }) {
			out = append(out, s)
		}
	}
	return out
}

// errNoPrice is why a call whose tokens are known has no cost.
var errNoPrice = errors.New("has no price")

var million = big.NewRat(1_000_000, 1)

// Cost is what t costs at p, exactly. It is an error if the tokens of a class,
// or the price of a class that was used, are not known.
func (p Price) Cost(t Tokens) (*big.Rat, error) {
	sum := new(big.Rat)
	for _, c := range []struct {
		name  string
		n     *int64
		price string
	}{
		{"input", t.Input, p.Input}, {"output", t.Output, p.Output},
		{"cache read", t.CacheRead, p.CacheRead}, {"cache write", t.CacheWrite, p.CacheWrite},
	} {
		switch {
		case c.n == nil:
			return nil, fmt.Errorf("%s tokens are not known", c.name)
		case *c.n < 0:
			return nil, fmt.Errorf("%d %s tokens", *c.n, c.name)
		case *c.n == 0:
			continue
		case c.price == "":
			return nil, fmt.Errorf("%s %w for %s tokens from %s", p.Model, errNoPrice, c.name, p.From)
		}
		each, ok := decimal(c.price)
		if !ok {
			return nil, fmt.Errorf("price %q of %s from %s is not a decimal number", c.price, p.Model, p.From)
		}
		each.Mul(each, new(big.Rat).SetInt64(*c.n))
		sum.Add(sum, each.Quo(each, million))
	}
	return sum, nil
}

var decimalForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,12})?$`)

func decimal(s string) (*big.Rat, bool) {
	if !decimalForm.MatchString(s) {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// Dollars writes an amount with as many digits as it has, at least two decimals
// and at most twelve.
func Dollars(r *big.Rat) string {
	s := strings.TrimRight(r.FloatString(12), "0")
	whole, frac, _ := strings.Cut(s, ".")
	for len(frac) < 2 {
		frac += "0"
	}
	return whole + "." + frac
}
