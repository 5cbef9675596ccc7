package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/shared/fault"
)

func TestErrorsKeepTheirName(t *testing.T) {
	type in struct{ N int }
	for _, tc := range []struct {
		name, payload string
		err           error
		want          fault.Name
	}{
		{"named", `{}`, fault.New(fault.Conceded, "x"), fault.Conceded},
		{"named and wrapped", `{}`, fmt.Errorf("doing: %w", fault.New(fault.Released, "x")), fault.Released},
		{"deadline", `{}`, context.DeadlineExceeded, fault.Transient},
		{"unknown", `{}`, errors.New("x"), fault.Permanent},
		{"payload", `{"N":"x"}`, nil, fault.Permanent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := New("f", func(context.Context, in) (int, error) { return 0, tc.err }).Invoke(t.Context(), []byte(tc.payload))
			if e, ok := err.(messages.InvokeResponse_Error); !ok || e.Type != string(tc.want) {
				t.Errorf("got %#v, want a type %s", err, tc.want)
			}
		})
	}
	_, err := New("f", func(context.Context, in) (int, error) { panic("boom") }).Invoke(t.Context(), []byte(`{}`))
	if e, ok := err.(messages.InvokeResponse_Error); !ok || e.Type != string(fault.Permanent) || !strings.Contains(e.Message, "boom") {
		t.Errorf("panic: %#v", err)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("த", maxMessage)
	_, err := New("f", func(context.Context, struct{}) (int, error) { return 0, errors.New(long) }).Invoke(t.Context(), []byte(`{}`))
	e := err.(messages.InvokeResponse_Error)
	if len(e.Message) > maxMessage+len(" (cut)") || !strings.HasSuffix(e.Message, " (cut)") || !utf8.ValidString(e.Message) {
		t.Errorf("%d bytes, ends with %q", len(e.Message), e.Message[len(e.Message)-9:])
	}
}

// The log's line says what happened, not how the runtime's error type prints.
func TestLogsTheMessage(t *testing.T) {
	var line bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&line, nil)))
	defer slog.SetDefault(was)
	_, _ = New("f", func(context.Context, struct{}) (int, error) {
		return 0, fault.Wrap(fault.Transient, errors.New("throttled"), "read the row of an-1")
	}).Invoke(t.Context(), []byte(`{}`))
	var got map[string]any
	if err := json.Unmarshal(line.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["error"] != "Transient" || got["detail"] != "read the row of an-1: throttled" {
		t.Errorf("error %v, detail %v", got["error"], got["detail"])
	}
}
