// Package dynamotest lets the tests of programs use the database of
// shared/internal/dynamotest, which only packages under shared may import. No
// deployed program imports it.
package dynamotest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/internal/dynamotest"
)

type (
	// Server is a running database.
	Server = dynamotest.Server
	// Fault is what happens to one request.
	Fault = dynamotest.Fault
	// Faults decides what happens to each request of a client.
	Faults = dynamotest.Faults
)

// The faults.
const (
	OK      = dynamotest.OK
	NotDone = dynamotest.NotDone
	Lost    = dynamotest.Lost
)

// ErrInjected is the error of a request that a fault hit.
var ErrInjected = dynamotest.ErrInjected

// Start runs a database with every declared table until the test ends.
func Start(t testing.TB) *Server { return dynamotest.Start(t) }

// StartStop is Start for a test that needs many databases.
func StartStop(t testing.TB) (*Server, func()) { return dynamotest.StartStop(t) }

// New is Start and a client in one.
func New(t testing.TB) *dynamodb.Client { return dynamotest.New(t) }

// First makes a Next that does f to the first n requests of one operation.
func First(n int, operation string, f Fault) func(string) Fault {
	return dynamotest.First(n, operation, f)
}
