// Package parity holds what the CDK app synthesises against what the embedded
// cloud creates: tables, queues, state machine, functions with their sources,
// environments and permissions, routes. Both are made from shared/names and
// statemachine; the tests find what one side left out or did otherwise.
//
// The templates are read as JSON. The CDK is run as a program, so that nothing
// here links it.
package parity
