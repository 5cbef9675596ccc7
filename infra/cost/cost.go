// Package cost adds up what the synthesised templates cost: idle for a month,
// and for one analysis. Prices and the profile of an analysis are files with a
// date; what there is to pay for is counted in the templates.
package cost

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fastbowlinglab/statemachine"
)

//go:embed prices.json
var pricesFile []byte

//go:embed profile.json
var profileFile []byte

// Prices are dated list prices of one region.
type Prices struct {
	Region   string
	Currency string
	AsOf     string  `json:"as_of"`
	Hours    float64 `json:"hours_a_month"`
	Prices   map[string]float64
	Sources  map[string]Source // by the first word of a price's name
}

// Source says where prices are from.
type Source struct{ Page, Compared string }

// of gives a price; one that is missing is a mistake of this package.
func (p Prices) of(name string) float64 {
	v, ok := p.Prices[name]
	if !ok {
		panic("cost: no price for " + name)
	}
	return v
}

// Profile is what one analysis uses.
type Profile struct {
	Transitions   float64            `json:"-"` // statemachine.DeliveredTransitions
	Lambda        map[string]float64 `json:"lambda_seconds"`
	APIRequests   float64            `json:"api_requests"`
	Worker        float64            `json:"worker_seconds"`
	WorkerIdle    float64            `json:"worker_idle_seconds"` // until the reconciler stops it
	Writes        float64            `json:"dynamodb_writes"`
	Reads         float64            `json:"dynamodb_reads"`
	Puts          float64            `json:"s3_puts"`
	Gets          float64            `json:"s3_gets"`
	StoredGB      float64            `json:"stored_gb_months"`
	QueueRequests float64            `json:"sqs_requests"`
	Mails         float64            `json:"mails"`
	LogsGB        float64            `json:"logs_gb"`
	Models        float64            `json:"model_usd"`
}

// Load reads the files that come with this package.
func Load() (Prices, Profile, error) {
	var p Prices
	var u Profile
	if err := json.Unmarshal(pricesFile, &p); err != nil {
		return p, u, fmt.Errorf("prices.json: %w", err)
	}
	if err := json.Unmarshal(profileFile, &u); err != nil {
		return p, u, fmt.Errorf("profile.json: %w", err)
	}
	u.Transitions = statemachine.DeliveredTransitions
	return p, u, nil
}

// Item is a line of the bill.
type Item struct {
	What string  `json:"what"`
	USD  float64 `json:"usd"`
}

// Sum adds items up.
func Sum(items []Item) float64 {
	var n float64
	for _, i := range items {
		n += i.USD
	}
	return n
}

// Resource is a resource of a template.
type Resource struct {
	Type       string
	Properties map[string]any
}

// Read gives the resources of every template in a folder (cdk.out).
func Read(dir string) ([]Resource, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no templates in %s; make synth makes them", dir)
	}
	var all []Resource
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var t struct{ Resources map[string]Resource }
		if err := json.Unmarshal(b, &t); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		for _, r := range t.Resources {
			all = append(all, r)
		}
	}
	return all, nil
}

func count(all []Resource, kind string) float64 {
	n := 0.0
	for _, r := range all {
		if r.Type == kind {
			n++
		}
	}
	return n
}

// number reads a property that a template may hold as a number or as text.
func number(v any) float64 {
	var n float64
	fmt.Sscan(strings.TrimSpace(fmt.Sprint(v)), &n)
	return n
}
