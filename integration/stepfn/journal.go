package stepfn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"fastbowlinglab/integration/stepfn/asl"
)

// journalName is the journal's file in Options.Dir.
const journalName = "stepfn.journal"

// Kinds of journal lines.
const (
	kindMachine = "machine"
	kindStart   = "start"
	kindEvent   = "event"
	kindVersion = "version"
	kindAlias   = "alias"
)

// machineLine records a new state machine or a new revision of one.
type machineLine struct {
	Kind       string `json:"t"`
	ARN        string `json:"arn"`
	Name       string `json:"name"`
	RoleARN    string `json:"role"`
	Definition string `json:"definition"`
	Created    Time   `json:"created"`
}

// startLine records a started execution; its ExecutionStarted event follows from it.
type startLine struct {
	Kind     string `json:"t"`
	ARN      string `json:"arn"`
	Name     string `json:"name"`
	Machine  string `json:"machine"`
	Revision int    `json:"revision"`
	Input    string `json:"input"`
	Start    Time   `json:"start"`
	origin
}

// record is an event with what the history does not show and a restart needs.
type record struct {
	Kind      string `json:"t"`
	Execution string `json:"x"`
	Scope     string `json:"s,omitempty"`
	Next      string `json:"n,omitempty"` // of an exit: the state that follows
	Token     string `json:"k,omitempty"` // of TaskScheduled: the task token
	Branches  string `json:"b,omitempty"` // of Map- and ParallelStateStarted: the path of the branches
	From      string `json:"f,omitempty"` // with Branches: those of the run that a redrive goes on with
	Client    string `json:"c,omitempty"` // of ExecutionRedriven: the caller's token
	Event     Event  `json:"e"`
}

// journal is an append-only file of JSON lines. A nil journal keeps nothing.
// Lines survive the death of the process, not that of the machine: they are
// written, but not synced.
type journal struct{ f *os.File }

func (j *journal) write(line any) error {
	if j == nil {
		return nil
	}
	b := append(asl.Encode(line), '\n')
	if _, err := j.f.Write(b); err != nil {
		return fmt.Errorf("append to the journal: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.f.Close()
}

// open reads the journal in dir, takes up what it holds, and goes on writing it.
// The lock is held.
func (e *Engine) open(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the journal's folder: %w", err)
	}
	name := filepath.Join(dir, journalName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return fmt.Errorf("journal %s is in use by another engine: %w", name, err)
	}
	end, err := e.replay(f)
	if err == nil {
		err = f.Truncate(end) // drop a line that a crash cut short
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("journal %s: %w", name, err)
	}
	e.journal = &journal{f}
	e.resume()
	return nil
}

// replay reads every whole line and gives the offset after the last.
func (e *Engine) replay(f io.Reader) (end int64, err error) {
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, err
		}
		if err := e.take(line); err != nil {
			return end, fmt.Errorf("line %d: %w", n, err)
		}
		end += int64(len(line))
	}
}

// take applies one line.
func (e *Engine) take(line []byte) error {
	var head struct {
		Kind string `json:"t"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("not readable: %w", err)
	}
	switch head.Kind {
	case kindMachine:
		var l machineLine
		if err := strict(line, &l); err != nil {
			return err
		}
		model, err := asl.Parse([]byte(l.Definition))
		if err != nil {
			return fmt.Errorf("definition of %s: %w", l.Name, err)
		}
		e.applyMachine(l, model)
	case kindStart:
		var l startLine
		if err := strict(line, &l); err != nil {
			return err
		}
		m := e.machines[l.Machine]
		if m == nil || l.Revision < 0 || l.Revision >= len(m.revisions) {
			return fmt.Errorf("execution %s: no revision %d of %s", l.Name, l.Revision, l.Machine)
		}
		e.applyStart(l)
	case kindEvent:
		var r record
		if err := strict(line, &r); err != nil {
			return err
		}
		x := e.executions[r.Execution]
		if x == nil {
			return fmt.Errorf("event of unknown execution %s", r.Execution)
		}
		x.apply(r)
		if r.Token != "" {
			e.tokens[r.Token] = closedToken() // until its state waits again
		}
	case kindVersion:
		var l versionLine
		if err := strict(line, &l); err != nil {
			return err
		}
		return e.applyVersion(l)
	case kindAlias:
		var l aliasLine
		if err := strict(line, &l); err != nil {
			return err
		}
		return e.applyAlias(l)
	default:
		return fmt.Errorf("kind %q is unknown", head.Kind)
	}
	return nil
}

func strict(line []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(to)
}
