// Package statemachine holds the definitions of the state machines, in the
// Amazon States Language, and what loads, fills in and checks them. The CDK app
// and the embedded cloud both get their definitions here.
//
//	def, err := statemachine.Fill("analysis", map[string]string{"BeginArn": arn, ...})
//
// README.md is for the operator who reads a run in the console.
package statemachine
