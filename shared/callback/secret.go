package callback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"fastbowlinglab/shared/retry"
)

// Secrets is what a Secret needs of Secrets Manager.
type Secrets interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// secretAge is how long a secret's value is believed. A key that is replaced
// must stay as the previous one for longer than that.
const secretAge = time.Minute

// Secret is the secret with the keys: {"current": "...", "previous": "..."},
// each the key's text; previous may be missing or empty. It is safe for
// concurrent use.
type Secret struct {
	Client Secrets
	ID     string
	Now    func() time.Time

	mu   sync.Mutex
	keys [][]byte
	at   time.Time
}

// Keys gives the current key and, while there is one, the previous.
func (s *Secret) Keys(ctx context.Context) ([][]byte, error) {
	now := time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys != nil && now.Sub(s.at) < secretAge {
		return s.keys, nil
	}
	var out *secretsmanager.GetSecretValueOutput
	err := retry.Policy{}.Do(ctx, func() (err error) {
		out, err = s.Client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.ID})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("callback: read secret %s: %w", s.ID, err)
	}
	var v struct {
		Current  string `json:"current"`
		Previous string `json:"previous"`
	}
	if out.SecretString == nil || json.Unmarshal([]byte(*out.SecretString), &v) != nil {
		return nil, fmt.Errorf("callback: secret %s is not {\"current\": ..., \"previous\": ...}", s.ID) // never its value
	}
	if v.Current == "" {
		return nil, errors.New("callback: secret " + s.ID + " has no current key")
	}
	keys := [][]byte{[]byte(v.Current)}
	if v.Previous != "" {
		keys = append(keys, []byte(v.Previous))
	}
	s.keys, s.at = keys, now
	return keys, nil
}
