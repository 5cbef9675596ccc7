package handler

import (
	"context"
	"errors"
	"fmt"
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
