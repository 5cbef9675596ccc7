package lambdaapi_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/shared/names"
)

// host is the test binary run again as a program that owns a service: it runs
// one function, prints the pid of the function's process and waits.
func host(program string) {
	s := lambdaapi.New(lambdaapi.Config{
		Functions: []names.Function{{Name: "fn", Timeout: time.Minute}}, Binary: func(string) string { return program }})
	out, fe, err := s.Invoke(context.Background(), "fn", nil)
	_, pid, _ := strings.Cut(string(out), `"pid":`)
	pid, _, _ = strings.Cut(pid, ",")
	fmt.Println(pid, fe, err)
	select {}
}

func TestKillingTheHostLeavesNoProcess(t *testing.T) {
	one, _ := build(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LAMBDAAPI_HOST="+one)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil || !alive(pid) {
		t.Fatalf("the host said %q, want the pid of a live process", line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	eventually(t, "the function's process ends with its host", func() bool { return !alive(pid) })
}
