// Command fn is the function that the tests of package lambdaapi run. Its
// payload says what it does.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// build is set by the linker, so that two programs differ.
var build = "one"

type in struct {
	Do    string `json:"do"`
	Call  string `json:"call"` // URL that is asked before anything else; its answer ends the wait
	Bytes int    `json:"bytes"`
	Code  int    `json:"code"`
	Env   string `json:"env"`
}

type out struct {
	PID       int    `json:"pid"`
	Child     int    `json:"child"`
	Build     string `json:"build"`
	ARN       string `json:"arn"`
	RequestID string `json:"request_id"`
	LeftMS    int64  `json:"left_ms"` // until the deadline
	Env       string `json:"env"`
	Pad       string `json:"pad"`
}

func handle(ctx context.Context, p in) (out, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	o := out{PID: os.Getpid(), Build: build, ARN: lc.InvokedFunctionArn, RequestID: lc.AwsRequestID,
		LeftMS: time.Until(deadline).Milliseconds(), Env: os.Getenv(p.Env)}
	fmt.Println("working on", p.Do)
	switch p.Do {
	case "child": // a child that would outlive us, its pid told to the caller
		c := exec.Command("sleep", "600")
		if err := c.Start(); err != nil {
			return o, err
		}
		o.Child = c.Process.Pid
	case "exit":
		os.Exit(p.Code)
	case "panic":
		panic("the roof")
	case "typed":
		return o, messages.InvokeResponse_Error{Type: "Transient", Message: "try again"}
	case "plain":
		return o, errors.New("plain")
	case "wrapped":
		return o, fmt.Errorf("outer: %w", errors.New("inner"))
	case "big":
		o.Pad = strings.Repeat("x", p.Bytes)
	}
	if p.Call != "" {
		res, err := http.Post(p.Call, "text/plain", strings.NewReader(fmt.Sprintf("%d %d %s", o.PID, o.Child, o.RequestID)))
		if err != nil {
			return o, err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return o, err
		}
		if string(b) == "fail" {
			return o, errors.New("told to fail")
		}
	}
	return o, nil
}

func main() {
	switch os.Getenv("FN_INIT") {
	case "crash":
		os.Exit(7)
	case "hang":
		select {
		case <-time.After(time.Hour):
		}
	case "error":
		url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/init/error"
		_, err := http.Post(url, "application/json", bytes.NewBufferString(`{"errorType":"Config.Missing","errorMessage":"TABLE_ANALYSES is not set"}`))
		if err != nil {
			panic(err)
		}
		os.Exit(1)
	case "slow once": // slow at the first start, quick at the second
		mark := os.Getenv("FN_MARK")
		if _, err := os.Stat(mark); err != nil {
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				panic(err)
			}
			<-time.After(time.Hour)
		}
	}
	lambda.Start(handle)
}
