// Package posetest is the world around a pose job for tests: a real database
// with one analysis in it, and a queue, storage and task tokens in memory.
package posetest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object/objecttest"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tasktoken"
)

// QueueURL is the URL of the queue.
const QueueURL = "https://queue.test/pose"

// World is everything around a job.
type World struct {
	T       testing.TB
	Server  *dynamotest.Server
	DB      *dynamodb.Client
	Jobs    *posejob.Store
	Watch   *posejob.Store // for Job; Jobs unless a test counts requests
	Tokens  *Tokens
	Queue   *Queue
	Objects *objecttest.Bucket
	Run     names.Run
}

// Quick are retries that do not slow a test down.
var Quick = retry.Policy{Tries: 3, Base: time.Millisecond, Max: 5 * time.Millisecond}

// New makes a world with one analysis of so many clips that is being analysed.
func New(t testing.TB, clips int) *World {
	t.Helper()
	srv := dynamotest.Start(t)
	w := &World{T: t, Server: srv, DB: srv.Client(), Tokens: NewTokens(), Queue: NewQueue(), Objects: objecttest.New(),
		Run: names.Run{AnalysisID: analysis.ID("athlete-1", t.Name()), Attempt: 1}}
	w.Jobs = w.Store(w.DB)
	w.Watch = w.Jobs
	w.Analysis(w.Run, analysis.Analysing, clips)
	return w
}

// Store makes a store of jobs on a client.
func (w *World) Store(db posejob.DB) *posejob.Store {
	return &posejob.Store{DB: db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name, Retry: Quick}
}

// Answerer answers the world's tokens.
func (w *World) Answerer() tasktoken.Answerer { return tasktoken.Answerer{API: w.Tokens, Retry: Quick} }

// Analysis puts the row of an analysis into this state.
func (w *World) Analysis(run names.Run, s analysis.Status, clips int) {
	w.T.Helper()
	row := analysis.Row{AnalysisID: run.AnalysisID, AthleteID: "athlete-1", Status: s, Attempt: run.Attempt, CreatedAt: time.Now()}
	for i := range clips {
		row.Clips = append(row.Clips, analysis.Clip{Key: names.ClipKey(run.AnalysisID, i), VersionID: "v1"})
	}
	item, err := stamp.MarshalMap(row)
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := w.DB.PutItem(w.T.Context(), &dynamodb.PutItemInput{TableName: &names.Analyses.Name, Item: item}); err != nil {
		w.T.Fatal(err)
	}
}

// Job reads the job of a run.
func (w *World) Job() posejob.Job {
	w.T.Helper()
	j, err := w.Watch.Get(w.T.Context(), w.Run.AnalysisID)
	if err != nil {
		w.T.Fatal(err)
	}
	return j
}

// Dispatch does what the state QueueJob does: it opens a token, registers it and
// sends the claim check.
func (w *World) Dispatch(run names.Run) (token string) {
	w.T.Helper()
	token = w.Tokens.Open()
	if _, err := w.Jobs.Enqueue(w.T.Context(), names.TokenIn{Run: run, TaskToken: token}); err != nil {
		w.T.Fatal(err)
	}
	w.Queue.Send(run.AnalysisID)
	return token
}

// Await does what the state AwaitPose does: it opens a token and registers it.
func (w *World) Await(run names.Run) (token string) {
	w.T.Helper()
	token = w.Tokens.Open()
	if _, err := w.Jobs.Await(w.T.Context(), names.TokenIn{Run: run, TaskToken: token}); err != nil {
		w.T.Fatal(err)
	}
	return token
}

// Eventually waits until ok holds, and fails the test after limit.
func Eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		<-tick.C
	}
}
