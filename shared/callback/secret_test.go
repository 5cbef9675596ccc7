package callback_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"fastbowlinglab/shared/callback"
)

type vault struct {
	value string
	reads int
}

func (v *vault) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	v.reads++
	return &secretsmanager.GetSecretValueOutput{SecretString: &v.value}, nil
}

func TestSecretIsReadAgainAfterAMinute(t *testing.T) {
	at := time.Unix(1, 0)
	v := &vault{value: `{"current":"first-key-of-sixteen"}`}
	s := &callback.Secret{Client: v, ID: "id", Now: func() time.Time { return at }}
	want := func(reads int, keys string) {
		t.Helper()
		got, err := s.Keys(t.Context())
		if err != nil || fmt.Sprintf("%s", got) != keys || v.reads != reads {
			t.Errorf("%s, %v after %d reads; want %s after %d", got, err, v.reads, keys, reads)
		}
	}
	want(1, "[first-key-of-sixteen]")
	v.value = `{"current":"second-key-of-sixteen","previous":"first-key-of-sixteen"}`
	want(1, "[first-key-of-sixteen]")
	at = at.Add(time.Minute)
	want(2, "[second-key-of-sixteen first-key-of-sixteen]")
}

func TestSecretThatCannotBeUsed(t *testing.T) {
	for _, value := range []string{"", "hunter2", `{"previous":"hunter2"}`, `["hunter2"]`} {
		_, err := (&callback.Secret{Client: &vault{value: value}, ID: "the-id"}).Keys(t.Context())
		if err == nil || !strings.Contains(err.Error(), "the-id") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("secret %q: %v", value, err)
		}
	}
}
