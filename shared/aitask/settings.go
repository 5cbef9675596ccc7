package aitask

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/retry"
)

// Parameters is what reading settings needs of SSM.
type Parameters interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// DefaultModel is used where no parameter is set: the embedded rules.
var DefaultModel = Model{Provider: RulesProvider, ID: RulesModel}

// Model is a setting: which provider, and which of its models. Written
// "provider:model", or "provider" for the provider's default. A second one after
// a comma is the fallback, asked where the first is retired or missing.
type Model struct {
	Provider string
	ID       string
	Setting  string // the parameter it came from
	Fallback *Model // nil for none
}

func (m Model) String() string {
	if m.ID == "" {
		return m.Provider
	}
	return m.Provider + ":" + m.ID
}

// Settings reads the models of tasks, which change without a deploy. An answer
// is kept for TTL, and used for up to MaxStale when SSM does not answer.
type Settings struct {
	API    Parameters
	Prefix string // for example /fastbowlinglab
	Retry  retry.Policy
	Now    func() time.Time // nil for time.Now

	mu    sync.Mutex
	known map[Task]remembered // at most one entry a task
}

type remembered struct {
	model Model
	at    time.Time
}

// How long a setting is kept, and how old it may be when SSM is away.
const (
	SettingTTL      = time.Minute
	SettingMaxStale = 15 * time.Minute
)

// Model gives the model set for a task; DefaultModel where the parameter does
// not exist. An empty or malformed value is ModelUnavailable, naming the
// setting; SSM being away is Transient.
func (s *Settings) Model(ctx context.Context, t Task) (Model, error) {
	name := t.Setting(s.Prefix)
	s.mu.Lock()
	was, ok := s.known[t]
	s.mu.Unlock()
	if ok && s.now().Sub(was.at) < SettingTTL {
		return was.model, nil
	}
	m, err := s.read(ctx, name)
	if err != nil {
		if ok && fault.NameOf(err) == fault.Transient && s.now().Sub(was.at) < SettingMaxStale {
			return was.model, nil
		}
		return Model{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[Task]remembered{}
	}
	s.known[t] = remembered{m, s.now()}
	return m, nil
}

func (s *Settings) read(ctx context.Context, name string) (Model, error) {
	var out *ssm.GetParameterOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.API.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
		return err
	})
	switch k := awserr.KindOf(err); {
	case err == nil:
	case k == awserr.NotFound:
		m := DefaultModel
		m.Setting = name
		return m, nil
	case k == awserr.Invalid:
		return Model{}, fault.Wrap(fault.Permanent, err, "read setting %s", name)
	default:
		return Model{}, fault.Wrap(fault.Transient, err, "read setting %s", name)
	}
	if out.Parameter == nil || out.Parameter.Value == nil {
		return Model{}, fault.New(fault.ModelUnavailable, "setting %s has no value", name)
	}
	return ParseModel(name, *out.Parameter.Value)
}

// ParseModel reads a setting's value: one model, or two with a comma between.
func ParseModel(setting, value string) (Model, error) {
	bad := fault.New(fault.ModelUnavailable, "setting %s is %q, want provider:model, or two with a comma between", setting, clip(value, 80))
	first, second, two := strings.Cut(value, ",")
	m := parseOne(setting, first)
	if m.Provider == "" || len(value) > 2048 {
		return Model{}, bad
	}
	if !two {
		return m, nil
	}
	f := parseOne(setting, second)
	if f.Provider == "" || strings.Contains(second, ",") {
		return Model{}, bad
	}
	m.Fallback = &f
	return m, nil
}

func parseOne(setting, value string) Model {
	provider, id, _ := strings.Cut(strings.TrimSpace(value), ":")
	return Model{Provider: strings.TrimSpace(provider), ID: strings.TrimSpace(id), Setting: setting}
}

func (s *Settings) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(s[:n], ""), len(s))
}
