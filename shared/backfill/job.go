package backfill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/retry"
)

// Objects is what a Job needs of S3.
type Objects interface {
	object.Getter
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Days lists deliveries; analysis.Store does.
type Days interface {
	Delivered(ctx context.Context, day string) ([]analysis.Row, error)
}

// Job carries out the steps of statemachine/backfill.asl.json.
type Job struct {
	Runs    batchrun.Store
	Items   Items
	Objects Objects
	Bucket  string
	Days    Days
	Works   map[string]Worker // by effect; their Runs and Items are the job's
	Retry   retry.Policy
}

// Effects lists what can be redone.
func (j Job) Effects() []string { return slices.Sorted(maps.Keys(j.Works)) }

// Preflight says whether an input can be started, who holds its effect, and what
// was begun and not ended. It changes nothing.
func (j Job) Preflight(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	spec, err := ParseSpec(in.Input, j.Effects())
	if err != nil {
		return names.BatchOut{}, err
	}
	out, err := j.Runs.Evidence(ctx, spec.Effect)
	if err != nil {
		return out, awserr.Fault(err, "preflight of "+spec.Effect)
	}
	if out.HeldBy == in.Run { // a second try of our own
		out.State = names.BatchFree
	}
	return out, nil
}

// Open takes the effect's lease, finds the analyses and writes the batches. Asked
// again it gives the same answer.
func (j Job) Open(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	spec, err := ParseSpec(in.Input, j.Effects())
	if err != nil {
		return names.BatchOut{}, err
	}
	ids, err := j.find(ctx, spec)
	if err != nil {
		return names.BatchOut{}, err
	}
	plan := kept{Effect: spec.Effect, Version: spec.Version, Batches: (len(ids) + spec.BatchSize - 1) / spec.BatchSize,
		Notice: spec.Notice, Changed: spec.Changed}
	b, err := json.Marshal(plan)
	if err != nil {
		return names.BatchOut{}, fmt.Errorf("encode the run's spec: %w", err)
	}
	r, err := j.Runs.Begin(ctx, in.Run, spec.Effect, string(b))
	var held *lease.Held
	if errors.As(err, &held) {
		out, err := j.Runs.Evidence(ctx, spec.Effect)
		if err == nil && out.State == names.BatchFree { // it ended between the two looks
			out.State, out.HeldBy, out.Until = names.BatchHeld, held.Owner, held.Until.UTC().Format(time.RFC3339)
		}
		return out, awserr.Fault(err, "open "+in.Run)
	}
	if err != nil {
		return names.BatchOut{}, awserr.Fault(err, "open "+in.Run)
	}
	if r.Spec != string(b) {
		return names.BatchOut{}, fault.New(fault.Permanent, "open %s: it was opened as %s, and now it would be %s: start another", in.Run, r.Spec, b)
	}
	keys, err := j.split(ctx, r, ids, spec.BatchSize)
	if err != nil {
		return names.BatchOut{}, err
	}
	slog.InfoContext(ctx, "run opened", "run", r.ID, "effect", r.Effect, "fence", r.Fence, "items", len(ids), "batches", len(keys))
	return answer(names.BatchOut{State: names.BatchOpen, Batches: keys, Expected: len(ids)}), nil
}

// split writes the batches of a run. The same ids give the same objects.
func (j Job) split(ctx context.Context, r batchrun.Run, ids []string, size int) (keys []string, err error) {
	for part := range slices.Chunk(ids, size) {
		b, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("encode a batch: %w", err)
		}
		key := names.BatchKey(r.ID, len(keys))
		if err := j.put(ctx, key, b); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func (j Job) find(ctx context.Context, spec Spec) ([]string, error) {
	ids := slices.Clone(spec.IDs)
	switch {
	case spec.IDsKey != "":
		if !strings.HasPrefix(spec.IDsKey, names.PrefixWork) {
			return nil, fault.New(fault.Permanent, "backfill: ids_key %.80q: want a key under %s", spec.IDsKey, names.PrefixWork)
		}
		var err error
		if ids, err = j.ids(ctx, spec.IDsKey); err != nil {
			return nil, err
		}
	case spec.From != "":
		days, err := spec.days()
		if err != nil {
			return nil, err
		}
		// Asked again, the answer must be the same: a day that goes on is no list.
		last, err := time.Parse(time.DateOnly, days[len(days)-1])
		if over := last.AddDate(0, 0, 1).Add(names.NightlySettle); err != nil || j.Runs.Clock().Before(over) {
			return nil, fault.New(fault.Permanent, "backfill: %s is not over; it can be redone from %s on", spec.To, over.Format(time.RFC3339))
		}
		for _, day := range days {
			rows, err := j.Days.Delivered(ctx, day)
			if err != nil {
				return nil, awserr.Fault(err, "find the analyses of "+day)
			}
			for _, r := range rows {
				ids = append(ids, r.AnalysisID)
			}
		}
	}
	return spec.clean(ids)
}

// Work works on one batch for as long as the call lasts.
func (j Job) Work(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	if !strings.HasPrefix(in.Batch, names.PrefixBatches+in.Run+"/") {
		return names.BatchOut{}, fault.New(fault.Permanent, "batch %.80q is not of run %s", in.Batch, in.Run)
	}
	r, spec, err := j.step(ctx, in.Run)
	if err != nil {
		return names.BatchOut{}, err
	}
	ids, err := j.ids(ctx, in.Batch)
	if err != nil {
		return names.BatchOut{}, err
	}
	w := j.Works[spec.Effect]
	w.Runs, w.Items = j.Runs, j.Items
	c, err := w.Batch(ctx, Order{Version: spec.Version, Run: r, Notice: spec.Notice, Changed: spec.Changed}, in.Batch, ids)
	if errors.Is(err, batchrun.ErrBusy) {
		slog.InfoContext(ctx, "batch is worked on elsewhere", "run", in.Run, "batch", in.Batch, "detail", err.Error())
		return answer(names.BatchOut{State: names.BatchMore}), nil
	}
	if err != nil {
		return names.BatchOut{}, awserr.Fault(err, "work on "+in.Batch)
	}
	out := counted(c)
	out.State = names.BatchMore
	if c.Missing == 0 {
		out.State = names.BatchDone
	}
	slog.InfoContext(ctx, "batch left", "run", in.Run, "batch", in.Batch, "state", out.State, "new", c.New, "already", c.Already, "missing", c.Missing)
	return out, nil
}

func (j Job) step(ctx context.Context, run string) (batchrun.Run, kept, error) {
	r, err := j.Runs.Step(ctx, run)
	if errors.Is(err, batchrun.ErrNotFound) {
		return r, kept{}, fault.Wrap(fault.Permanent, err, "backfill")
	}
	if err != nil {
		return r, kept{}, awserr.Fault(err, "step of run "+run)
	}
	spec, err := specOf(r)
	return r, spec, err
}

func specOf(r batchrun.Run) (kept, error) {
	var s kept
	if err := json.Unmarshal([]byte(r.Spec), &s); err != nil {
		return s, fault.Wrap(fault.Permanent, err, "decode the spec of run %s", r.ID)
	}
	return s, nil
}

func (j Job) ids(ctx context.Context, key string) ([]string, error) {
	const most = MaxIDs*70 + 2 // bytes
	b, err := object.Read(ctx, j.Objects, j.Retry, j.Bucket, key, most)
	if err != nil {
		return nil, awserr.Fault(err, "read "+key)
	}
	var ids []string
	if err := json.Unmarshal(b, &ids); err != nil {
		return nil, fault.New(fault.Permanent, "%s: want a JSON array of at most %d ids: %v", key, MaxIDs, err)
	}
	return ids, nil
}

func (j Job) put(ctx context.Context, key string, b []byte) error {
	kind := "application/json"
	err := j.Retry.Do(ctx, func() error {
		_, err := j.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &j.Bucket, Key: &key, Body: bytes.NewReader(b), ContentType: &kind})
		return err
	})
	return awserr.Fault(err, "write "+key)
}

// answer makes an answer of which no field is null.
func answer(o names.BatchOut) names.BatchOut {
	if o.Batches == nil {
		o.Batches = []string{}
	}
	return o
}

func counted(c batchrun.Counts) names.BatchOut {
	return answer(names.BatchOut{Expected: c.Expected, New: c.New, Already: c.Already, Failed: c.Failed, Unknown: c.Unknown, Missing: c.Missing})
}
