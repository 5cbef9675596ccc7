// Package stepfn runs AWS Step Functions state machines in this process: a
// definition is parsed into a checked model (package asl), and each execution is
// interpreted by a goroutine of its own. The API that operators' tools and the
// AWS SDKs speak is served by Engine.ServeHTTP and is also there as methods.
//
// Time is plain time, so that an engine inside a testing/synctest bubble runs in
// virtual time. There are two seams: the Invoker, which calls Lambda functions,
// and the seed, from which tokens, ids and jitter are derived.
//
//	e, err := stepfn.New(stepfn.Options{Invoker: functions})
//	defer e.Close()
//	m, err := e.CreateStateMachine(stepfn.CreateStateMachineInput{Name: "hello", Definition: def, RoleARN: role})
//	x, err := e.StartExecution(stepfn.StartExecutionInput{StateMachineARN: m.StateMachineARN, Name: "run-1", Input: "{}"})
//	err = e.Wait(ctx, x.ExecutionARN)
//
// README.md lists what is supported and where it differs from AWS.
package stepfn
