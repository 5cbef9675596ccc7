package lambdaapi_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/shared/names"
)

// host is the test binary run again as a program that owns a service and waits
// for a function.
func host(program string) {
	s := lambdaapi.New(lambdaapi.Config{
		Functions: []names.Function{{Name: "fn", Timeout: time.Minute}}, Binary: func(string) string { return program }})
	out, fe, err := s.Invoke(context.Background(), "fn", []byte(os.Getenv("LAMBDAAPI_PAYLOAD")))
	fmt.Fprintln(os.Stderr, "the function answered:", string(out), fe, err) // it never should
}

func TestKillingTheHostLeavesNoProcess(t *testing.T) {
	one, _ := build(t)
	g := newGate(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LAMBDAAPI_HOST="+one, "LAMBDAAPI_PAYLOAD="+g.payload(""))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := g.next(t) // in mid-call: it looks at nothing but the gate
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	eventually(t, "the function's process ends with its host", func() bool { return !alive(v.pid) })
}
