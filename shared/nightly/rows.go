// Package nightly tags the analyses that were delivered on a UTC day: one row an
// analysis, by a deterministic key, in one transaction with its checkpoint. A
// restart resumes at what has no checkpoint; with every checkpoint lost it finds
// the rows and only gives them their checkpoints back. What a day's status is,
// its rows say, held against the analyses that the day delivered.
package nightly

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
	"fastbowlinglab/shared/txn"
)

// DB is what Rows needs of DynamoDB.
type DB interface {
	txn.DB
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Row is an analysis's tags in one version.
type Row = tags.Row

const (
	partRow  = tags.PartRow
	partDone = tags.PartDone
)

// Rows keeps the rows of days and their checkpoints.
type Rows struct {
	DB    DB
	Table string
	Runs  batchrun.Store
	Now   func() time.Time
	Retry retry.Policy
}

// What Commit found.
const (
	New     = "new"     // there was no row
	Already = "already" // the same row was there, and has its checkpoint again
)

// ErrMismatch says that there is another row in the place of this one. It is
// left as it is, without a checkpoint.
var ErrMismatch = errors.New("a row with other tags is there")

// NewRow is the row of an analysis's tags.
func NewRow(day, analysisID, version, by string, t aitask.Tagged) (Row, error) {
	b, err := t.Bytes()
	if err != nil {
		return Row{}, fmt.Errorf("encode the tags of %s: %w", analysisID, err)
	}
	sum := sha256.Sum256(b)
	return Row{Day: day, Item: partRow + analysisID + "#" + version, AnalysisID: analysisID, Version: version,
		ActionType: t.ActionType, Arm: t.Arm, Flags: t.Flags, Author: t.Author.Provider + ":" + t.Author.Model + ":" + t.Author.Version,
		Hash: hex.EncodeToString(sum[:]), By: by}, nil
}

// Commit writes the row and its checkpoint, both or neither, under the run's
// guards. A row that is there with the same hash gets its checkpoint back.
// Errors: ErrMismatch, after the alarm's metric; fault.Conceded.
func (s Rows) Commit(ctx context.Context, r batchrun.Run, row Row) (string, error) {
	put, err := s.put(row)
	if err != nil {
		return "", err
	}
	done := s.checkpoint(r, row)
	err = s.write(ctx, r, append([]ddb.TransactWriteItem{put, done}, s.Runs.Guards(r)...))
	if err == nil {
		return New, nil
	}
	old, stood := txn.Guard(err)
	if !stood {
		return "", err
	}
	if err := same(ctx, old, row); err != nil {
		return "", err
	}
	cond := "content_hash = :hash"
	check := ddb.TransactWriteItem{ConditionCheck: &ddb.ConditionCheck{TableName: &s.Table, Key: key(row.Day, row.Item), ConditionExpression: &cond,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":hash": text(row.Hash)}}}
	if err := s.write(ctx, r, append([]ddb.TransactWriteItem{check, done}, s.Runs.Guards(r)...)); err != nil {
		return "", err
	}
	return Already, nil
}

// write carries out a transaction whose third and fourth items are guards.
func (s Rows) write(ctx context.Context, r batchrun.Run, items []ddb.TransactWriteItem) error {
	err := txn.Write(ctx, s.DB, s.Retry, items)
	if gone := batchrun.Refused(err, r, 2); gone != nil {
		return gone
	}
	if err != nil {
		return fmt.Errorf("write tags: %w", err)
	}
	return nil
}

// Write writes a row alone under the run's conditions, for a backfill, whose
// checkpoints are its own. Errors: ErrMismatch; fault.Conceded.
func (s Rows) Write(ctx context.Context, r batchrun.Run, row Row) (string, error) {
	put, err := s.put(row)
	if err != nil {
		return "", err
	}
	err = txn.Write(ctx, s.DB, s.Retry, append([]ddb.TransactWriteItem{put}, s.Runs.Checks(r)...))
	if err == nil {
		return New, nil
	}
	if gone := batchrun.Refused(err, r, 1); gone != nil {
		return "", gone
	}
	old, stood := txn.Guard(err)
	if !stood {
		return "", fmt.Errorf("write tags: %w", err)
	}
	return Already, same(ctx, old, row)
}

func (s Rows) put(row Row) (ddb.TransactWriteItem, error) {
	row.At = s.now().UTC().Truncate(time.Millisecond)
	item, err := stamp.MarshalMap(row)
	if err != nil {
		return ddb.TransactWriteItem{}, fmt.Errorf("encode the tags of %s: %w", row.AnalysisID, err)
	}
	cond := "attribute_not_exists(content_hash)"
	return ddb.TransactWriteItem{Put: &ddb.Put{TableName: &s.Table, Item: item, ConditionExpression: &cond,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}, nil
}

func (s Rows) checkpoint(r batchrun.Run, row Row) ddb.TransactWriteItem {
	item := key(row.Day, partDone+row.AnalysisID+"#"+row.Version)
	item["content_hash"], item["by_run"], item["written_at"] = text(row.Hash), text(r.ID), stamp.Value(s.now())
	return ddb.TransactWriteItem{Put: &ddb.Put{TableName: &s.Table, Item: item}}
}

// same compares what stands with what would have been written.
func same(ctx context.Context, old map[string]ddb.AttributeValue, row Row) error {
	var was Row
	if err := attributevalue.UnmarshalMap(old, &was); err != nil {
		return fmt.Errorf("decode the tags of %s: %w", row.AnalysisID, err)
	}
	if was.Hash == row.Hash {
		return nil
	}
	metric.Count(ctx, metric.TagsMismatch, 1, "day", row.Day, "analysis_id", row.AnalysisID, "version", row.Version,
		"stands", was.Hash, "stands_by", was.By, "would_be", row.Hash)
	return fmt.Errorf("tags of %s (%s): %w", row.AnalysisID, row.Version, ErrMismatch)
}

// Rows reads the rows of a day in a version, by analysis.
func (s Rows) Rows(ctx context.Context, day, version string) (map[string]Row, error) {
	return s.read(ctx, day, partRow, version)
}

// Checkpoints reads the checkpoints of a day in a version, by analysis; of a row
// it has the hash alone.
func (s Rows) Checkpoints(ctx context.Context, day, version string) (map[string]Row, error) {
	return s.read(ctx, day, partDone, version)
}

func (s Rows) read(ctx context.Context, day, part, version string) (map[string]Row, error) {
	cond, yes := "#d = :day AND begins_with(#i, :part)", true
	in := &dynamodb.QueryInput{TableName: &s.Table, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeNames:  map[string]string{"#d": "day", "#i": "item"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":day": text(day), ":part": text(part)}}
	rows := map[string]Row{}
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return nil, fmt.Errorf("read the tags of %s: %w", day, err)
		}
		var r Row
		if err := attributevalue.UnmarshalMap(item, &r); err != nil {
			return nil, fmt.Errorf("decode the tags of %s: %w", day, err)
		}
		if id, v, _ := cut(r.Item[len(part):]); v == version {
			rows[id] = r
		}
	}
	return rows, nil
}

func (s Rows) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}
