package posetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// Tokens are the task tokens of a state machine.
type Tokens struct {
	mu     sync.Mutex
	n      int
	tokens map[string]*Token
	fail   func(operation string) error
}

// Token is one token and what was answered.
type Token struct {
	Closed     bool
	Output     string // of a success
	Error      string // of a failure
	Cause      string
	Heartbeats int
	Late       int // answers that came when it was closed
}

// NewTokens makes an empty set.
func NewTokens() *Tokens { return &Tokens{tokens: map[string]*Token{}} }

// Open makes a token on which a state waits.
func (t *Tokens) Open() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	id := fmt.Sprintf("token-%d", t.n)
	t.tokens[id] = &Token{}
	return id
}

// Close leaves the state: its token is good no more.
func (t *Tokens) Close(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[id].Closed = true
}

// Get tells what became of a token.
func (t *Tokens) Get(id string) Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return *t.tokens[id]
}

// Fail makes every call ask fn whether it fails; nil ends that.
func (t *Tokens) Fail(fn func(operation string) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fail = fn
}

func (t *Tokens) answer(op, id string, end bool, do func(*Token)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail != nil {
		if err := t.fail(op); err != nil {
			return err
		}
	}
	k, ok := t.tokens[id]
	if !ok {
		return &types.InvalidToken{}
	}
	if k.Closed {
		k.Late++
		return &types.TaskTimedOut{}
	}
	k.Closed = end
	do(k)
	return nil
}

// SendTaskSuccess implements tasktoken.API.
func (t *Tokens) SendTaskSuccess(_ context.Context, in *sfn.SendTaskSuccessInput, _ ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error) {
	return &sfn.SendTaskSuccessOutput{}, t.answer("SendTaskSuccess", *in.TaskToken, true, func(k *Token) { k.Output = *in.Output })
}

// SendTaskFailure implements tasktoken.API.
func (t *Tokens) SendTaskFailure(_ context.Context, in *sfn.SendTaskFailureInput, _ ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error) {
	return &sfn.SendTaskFailureOutput{}, t.answer("SendTaskFailure", *in.TaskToken, true, func(k *Token) { k.Error, k.Cause = *in.Error, *in.Cause })
}

// SendTaskHeartbeat implements tasktoken.API.
func (t *Tokens) SendTaskHeartbeat(_ context.Context, in *sfn.SendTaskHeartbeatInput, _ ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error) {
	return &sfn.SendTaskHeartbeatOutput{}, t.answer("SendTaskHeartbeat", *in.TaskToken, false, func(k *Token) { k.Heartbeats++ })
}
