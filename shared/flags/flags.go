// Package flags reads the settings that choose between two ways of doing
// something. They ship off. An analysis reads them once, when it begins, and
// keeps them: a flag that is flipped changes analyses that begin later.
package flags

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/shared/retry"
)

// PoseRoad chooses how a pose job reaches a worker.
const PoseRoad = "pose_road"

// The pose roads.
const (
	RoadQueue = "queue"
	RoadHTTP  = "http"
)

// flag declares a flag: its values, of which the first is what it ships as.
var flags = map[string][]string{
	PoseRoad: {RoadQueue, RoadHTTP},
}

// Store is what reading flags needs of SSM.
type Store interface {
	GetParametersByPath(context.Context, *ssm.GetParametersByPathInput, ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error)
}

// Defaults are the flags as they ship.
func Defaults() map[string]string {
	out := make(map[string]string, len(flags))
	for name, values := range flags {
		out[name] = values[0]
	}
	return out
}

// InvalidError says that a flag is set to something it cannot be.
type InvalidError struct {
	Parameter string
	Allowed   []string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("parameter %s: not one of %s", e.Parameter, strings.Join(e.Allowed, ", "))
}

// Read gives every flag, from the parameters under prefix/flags/ or as it
// ships. Parameters that are no flag are ignored: a newer release may have set
// them. An *InvalidError names a value that no flag has.
func Read(ctx context.Context, store Store, prefix string) (map[string]string, error) {
	out := Defaults()
	path := strings.TrimRight(prefix, "/") + "/flags/"
	var next *string
	for range 10 { // pages; there are a few flags
		var page *ssm.GetParametersByPathOutput
		err := retry.Policy{}.Do(ctx, func() (err error) {
			page, err = store.GetParametersByPath(ctx, &ssm.GetParametersByPathInput{Path: &path, NextToken: next})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the flags under %s: %w", path, err)
		}
		for _, p := range page.Parameters {
			if p.Name == nil || p.Value == nil {
				continue
			}
			name := strings.TrimPrefix(*p.Name, path)
			allowed, known := flags[name]
			if !known {
				continue
			}
			if !slices.Contains(allowed, *p.Value) {
				return nil, &InvalidError{*p.Name, allowed}
			}
			out[name] = *p.Value
		}
		if next = page.NextToken; next == nil {
			break
		}
	}
	return out, nil
}
