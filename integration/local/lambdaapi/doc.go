// Package lambdaapi is AWS Lambda on one machine: it runs the real function
// binaries as processes, speaks the Lambda Runtime API to them and the Lambda
// API (Invoke, and the reads that operators' tools make) to everybody else.
//
// What it keeps of AWS's behaviour, since the system leans on it:
//
//   - One process serves one invocation at a time; more at once means more
//     processes, up to Config.Concurrency, then TooManyRequestsException.
//   - The process stays for the next invocation. Its start (init) is not part
//     of the function's timeout unless it takes longer than ten seconds.
//   - A function that overruns its own timeout is killed with its whole process
//     group and answers Sandbox.Timedout. A process that exits answers
//     Runtime.ExitError.
//   - A caller that stops waiting stops nothing: the function runs on and its
//     answer is dropped.
//   - An Event invocation is tried again twice when the function fails.
//   - Functions are invoked as $LATEST (the bare name) or as a published
//     version (arn:aws:lambda:us-east-1:000000000000:function:begin:3). A
//     version keeps its own copy of the program, so that a run in flight goes
//     on with the code it started with.
//
// What it does not keep: memory is measured and reported but not limited, no
// IAM, no freezing between invocations, and Event invocations are lost when the
// service closes.
package lambdaapi
