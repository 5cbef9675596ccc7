// Package virtual runs whole analyses in virtual time: the real state machine
// definition on the real engine, the real handlers in this process, and a real
// database process, under testing/synctest.
//
// synctest knows when every goroutine is asleep or waiting and then moves the
// clock, but it orders nothing. The Gate does: it is the HTTP client of every
// AWS client here, each request parks in it, and when all else is still it lets
// one through, chosen by the seed among the parked ones in a canonical order,
// with a fault chosen by the same seed. What goroutines share beside requests (a
// balancer's choice, an answer whose time has come, a process that goes on, the end
// of the faults) takes a turn in it too, see turn.go; ties between an answer and a
// deadline go by the clock. So a seed replays to the same log.
//
// DynamoDB is reached over one bare connection (an http.Transport's idle
// connections would stop virtual time for good); S3, SQS, SES, SNS, SSM, ECS and
// Step Functions are called directly. Whoever asks the public API (Cloud.API) goes
// through the gate as the gateway, to the real handler, which is a process of its own.
package virtual
