// Package pump is what Lambda's event source mappings do: it reads a DynamoDB
// stream or an SQS queue and invokes a function with batches of what it finds,
// at least once, with partial batch failures (batchItemFailures).
//
// It reads through the services' own wire format, so that a record reaches the
// function as the service wrote it.
package pump
