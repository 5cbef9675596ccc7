package virtual_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
)

// passes counts passes by the workers that begin them.
type passes struct {
	mu    sync.Mutex
	begun []string
}

func (p *passes) of(w *virtual.Proc) poseworker.Vision {
	return noted{virtual.Sight{Chunks: 4, Each: 3 * time.Second}, w.Name, p}
}

type noted struct {
	virtual.Sight
	worker string
	passes *passes
}

// Track implements poseworker.Vision.
func (c noted) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	c.passes.mu.Lock()
	c.passes.begun = append(c.passes.begun, c.worker)
	c.passes.mu.Unlock()
	return c.Sight.Track(ctx, src, info, after, emit)
}

// Field case 4: the container service starts a worker and answers that it did not,
// and is asked again; three workers come up, and the claim check is there three
// times. One of them runs the pass.
func TestAskedAgainForAWorkerThatWasStarted(t *testing.T) {
	for _, road := range []string{flags.RoadQueue, flags.RoadHTTP} {
		t.Run(road, func(t *testing.T) {
			asked, p := 0, &passes{}
			opt := virtual.Options{Workers: 2, Vision: p.of, Faults: func(c virtual.Call) virtual.Decision {
				if c.Service == "ecs" && c.Op == "UpdateService" {
					if asked++; asked <= 3 {
						return virtual.Decision{Fault: virtual.Lost}
					}
				}
				return virtual.Decision{}
			}}
			virtual.Run(t, opt, func(c *virtual.Cloud) {
				c.SetParameter("/flags/pose_road", road)
				ctx, id := submitted(t, c)
				for range 2 {
					if err := c.SendClaimCheck(ctx, id); err != nil {
						t.Error(err)
					}
				}
				s := ended(ctx, t, c, id, names.AnalysingDeadline)
				expect(t, c, s, analysis.Ready, "")
				job, err := c.Jobs().Get(ctx, id)
				if err != nil || job.Fence != 1 || job.Redone != 0 {
					t.Errorf("fence %d, %d chunks done again, %v; want one claim", job.Fence, job.Redone, err)
				}
			})
			if asked < 3 || len(p.begun) != 1 {
				t.Errorf("asked %d times, passes by %v; want one", asked, p.begun)
			}
		})
	}
}

// submitted is a client whose analysis has been confirmed and started.
func submitted(t *testing.T, c *virtual.Cloud) (context.Context, string) {
	ctx := virtual.As(context.Background(), "test")
	id := ""
	err := c.Grant(ctx, 2)
	if err == nil {
		id, err = c.Submit(ctx, "key")
	}
	if err == nil {
		err = c.StartExecution(ctx, id, 1)
	}
	if err != nil {
		t.Error(err)
	}
	return ctx, id
}

// Field case 6: every function is slower than its caller waits, is called again, and
// the original runs on to its end. Whatever is paid for, or told, is so once.
func TestCallersThatDoNotWait(t *testing.T) {
	for _, road := range []string{flags.RoadQueue, flags.RoadHTTP} {
		t.Run(road, func(t *testing.T) {
			const patience = 5 * time.Second
			first := func(actor string) bool { return strings.HasSuffix(actor, "/0") } // the first try of a state
			var mu sync.Mutex
			hits, p := map[string]int{}, &passes{}
			opt := virtual.Options{Vision: p.of,
				Invocations: func(i virtual.Invocation) virtual.InvokeFault {
					if first(i.ID) {
						return virtual.InvokeFault{Kind: virtual.InvokeTimeout, After: patience}
					}
					return virtual.InvokeFault{}
				},
				Faults: func(c virtual.Call) virtual.Decision { // what it begins with takes a second longer than that
					if first(c.Actor) && strings.HasSuffix(c.ID, " 1") && c.Service == "dynamodb" {
						return virtual.Decision{Fault: virtual.Late, For: patience + time.Second}
					}
					return virtual.Decision{}
				},
				Answered: func(fn string, _, _ []byte, _ string) {
					mu.Lock()
					defer mu.Unlock()
					hits[fn]++
				},
				Model: func(context.Context, string) virtual.ModelAnswer { return virtual.ModelAnswer{After: 90 * time.Second} },
			}
			virtual.Run(t, opt, func(c *virtual.Cloud) {
				c.SetParameter("/flags/pose_road", road)
				c.SetParameter("/model/findings", virtual.PaidModel)
				c.SetParameter("/model/coaching", virtual.PaidModel)
				ctx, id := submitted(t, c)
				s := ended(ctx, t, c, id, names.AnalysingDeadline)
				expect(t, c, s, analysis.Ready, "")
				calls := map[string]int{}
				for _, m := range c.ModelCalls() {
					calls[fmt.Sprint(m.Key[strings.LastIndexByte(m.Key, '#')+1:])]++
				}
				if len(calls) != 2 || calls["findings"] != 1 || calls["coaching"] != 1 {
					t.Errorf("model calls %v; want one each", calls)
				}
				if job, err := c.Jobs().Get(ctx, id); err != nil || job.Fence != 1 {
					t.Errorf("fence %d, %v; want one claim", job.Fence, err)
				}
			})
			again := []string{names.FnBegin, names.FnWake, names.FnFindings, names.FnCoaching, names.FnDeliver, names.FnAwaitPose, names.FnQueueJob}
			if road == flags.RoadHTTP {
				again[len(again)-1] = names.FnPostJob
			}
			for _, fn := range again {
				if hits[fn] < 2 {
					t.Errorf("%s was answered %d times: its original did not run on beside the second call", fn, hits[fn])
				}
			}
			if len(p.begun) != 1 {
				t.Errorf("passes by %v; want one", p.begun)
			}
		})
	}
}
