package pump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/shared/retry"
)

// Stream pumps the stream of a table into a function.
type Stream struct {
	Common
	Table string
	// Positions is the file that keeps how far each shard was handled; "" keeps
	// it in memory and starts at the oldest record.
	Positions string
	// Attempts is how often a record is tried before it is dropped with a log
	// line; the others of its batch go on. Default 10.
	Attempts int
	// Backoff is the first wait between two attempts; it doubles up to 30 s.
	// Default 200 ms.
	Backoff time.Duration
}

const (
	streamScope = "dynamodb"
	maxBackoff  = 30 * time.Second
	lookEvery   = 10 * time.Second // for new shards
)

// Run pumps until ctx ends. Errors of the stream itself are logged and tried
// again: a pump that gives up would be an outage that nobody sees.
func (s Stream) Run(ctx context.Context) {
	s.Common = s.withDefaults()
	if s.Attempts <= 0 {
		s.Attempts = 10
	}
	if s.Backoff <= 0 {
		s.Backoff = 200 * time.Millisecond
	}
	pos := openPositions(s.Positions)
	shards := map[string]bool{}
	var wg sync.WaitGroup
	defer wg.Wait()
	for n := 1; ; {
		arn, ids, err := s.shards(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			s.Log.Error("stream not read", "table", s.Table, "error", err)
			if retry.Sleep(ctx, backoff(s.Backoff, maxBackoff, n)) != nil {
				return
			}
			n++
			continue
		}
		n = 1
		for _, id := range ids {
			if !shards[id] {
				shards[id] = true
				wg.Go(func() { shard{s, arn, id, pos}.run(ctx) })
			}
		}
		if retry.Sleep(ctx, lookEvery) != nil {
			return
		}
	}
}

// shards finds the table's stream and its shards.
func (s Stream) shards(ctx context.Context) (arn string, ids []string, err error) {
	var table struct {
		Table struct{ LatestStreamArn string }
	}
	err = s.call(ctx, streamScope, "DynamoDB_20120810.DescribeTable", map[string]string{"TableName": s.Table}, &table)
	if err != nil {
		return "", nil, err
	}
	if arn = table.Table.LatestStreamArn; arn == "" {
		return "", nil, fmt.Errorf("table %s has no stream", s.Table)
	}
	var out struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	err = s.call(ctx, streamScope, "DynamoDBStreams_20120810.DescribeStream", map[string]string{"StreamArn": arn}, &out)
	for _, sh := range out.StreamDescription.Shards {
		ids = append(ids, sh.ShardId)
	}
	return arn, ids, err
}

// shard pumps one shard, in order.
type shard struct {
	Stream
	arn, id string
	pos     *positions
}

type page struct {
	Records           []map[string]json.RawMessage
	NextShardIterator string
}

func (s shard) run(ctx context.Context) {
	it := ""
	for n := 1; ctx.Err() == nil; {
		pg, err := s.read(ctx, it)
		if err != nil {
			it = "" // it may have expired: look for the place again
			if ctx.Err() == nil {
				s.Log.Error("shard not read", "table", s.Table, "error", err)
				_ = retry.Sleep(ctx, backoff(s.Backoff, maxBackoff, n))
			}
			n++
			continue
		}
		n, it = 1, pg.NextShardIterator
		if len(pg.Records) > 0 {
			s.handle(ctx, pg.Records)
			continue
		}
		_ = retry.Sleep(ctx, s.Poll)
	}
}

// read gets the next records; without an iterator it looks for the place first.
// An emulator's open shard may look closed: the end of a shard is not believed.
func (s shard) read(ctx context.Context, it string) (page, error) {
	var pg page
	if it == "" {
		var err error
		if it, err = s.iterator(ctx); err != nil {
			return pg, err
		}
	}
	err := s.call(ctx, streamScope, "DynamoDBStreams_20120810.GetRecords",
		map[string]any{"ShardIterator": it, "Limit": s.Batch}, &pg)
	return pg, err
}

func (s shard) iterator(ctx context.Context) (string, error) {
	in := map[string]string{"StreamArn": s.arn, "ShardId": s.id, "ShardIteratorType": "TRIM_HORIZON"}
	if seq := s.pos.get(s.key()); seq != "" {
		in["ShardIteratorType"], in["SequenceNumber"] = "AFTER_SEQUENCE_NUMBER", seq
	}
	var out struct{ ShardIterator string }
	const target = "DynamoDBStreams_20120810.GetShardIterator"
	err := s.call(ctx, streamScope, target, in, &out)
	var e *apiError
	if errors.As(err, &e) && strings.Contains(e.Type, "TrimmedDataAccess") {
		in["ShardIteratorType"] = "TRIM_HORIZON"
		delete(in, "SequenceNumber")
		err = s.call(ctx, streamScope, target, in, &out)
	}
	return out.ShardIterator, err
}

func (s shard) key() string { return s.arn + " " + s.id }

// record is one change, and where it stands.
type record struct {
	seq string
	raw json.RawMessage
}

// handle gives the records to the function until each is handled or dropped,
// and keeps the place after each step.
func (s shard) handle(ctx context.Context, in []map[string]json.RawMessage) {
	records, err := s.records(in)
	if err != nil { // dynoxide answered what is no stream record: nothing can be done with it
		s.Log.Error("stream record dropped", "table", s.Table, "error", err)
		return
	}
	all := records
	for tries := 1; len(records) > 0; {
		n, detail := s.deliver(ctx, records)
		if ctx.Err() != nil && n == 0 {
			return // not handled; the next run starts here
		}
		if n > 0 {
			tries = 1
		}
		if n == 0 && tries >= s.Attempts {
			s.Log.Error("stream record dropped", "table", s.Table, "sequence", records[0].seq, "attempts", tries, "detail", detail)
			n, tries = 1, 1
		} else if n < len(records) {
			s.Log.Warn("stream batch failed", "table", s.Table, "failed", len(records)-n, "attempt", tries, "detail", detail)
			_ = retry.Sleep(ctx, backoff(s.Backoff, maxBackoff, tries))
			if n == 0 {
				tries++
			}
		}
		if n > 0 {
			if err := s.pos.set(s.key(), records[n-1].seq); err != nil {
				s.Log.Error("stream position not kept", "table", s.Table, "error", err)
			}
		}
		records = records[n:]
	}
	if s.Duplicate != nil && s.Duplicate() {
		s.deliver(ctx, all) // a second time; whatever comes of it
	}
}

// deliver makes one invocation and says how many records, from the first, are
// handled: those before the first that the function names as failed.
func (s shard) deliver(ctx context.Context, records []record) (handled int, detail string) {
	raws := make([]json.RawMessage, len(records))
	at := map[string]int{}
	for i, r := range records {
		raws[i] = r.raw
		at[r.seq] = i
	}
	failed, whole, detail := s.invoke(ctx, raws, func(id string) bool { _, ok := at[id]; return ok })
	if whole {
		return 0, detail
	}
	handled = len(records)
	for id := range failed {
		handled = min(handled, at[id])
	}
	return handled, "items failed"
}

func (s shard) records(in []map[string]json.RawMessage) ([]record, error) {
	arn, err := json.Marshal(s.arn)
	if err != nil {
		return nil, err
	}
	out := make([]record, len(in))
	for i, m := range in {
		var d struct{ SequenceNumber string }
		if err := json.Unmarshal(m["dynamodb"], &d); err != nil || d.SequenceNumber == "" {
			return nil, fmt.Errorf("no sequence number: %w", err)
		}
		m["eventSourceARN"] = arn
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out[i] = record{d.SequenceNumber, raw}
	}
	return out, nil
}
