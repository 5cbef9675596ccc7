// Package asl reads the Amazon States Language: it turns a definition into a
// checked model and evaluates the parts of it that need no engine (paths,
// payload templates, intrinsic functions, choice rules, error matching, retry
// delays).
//
// Parse refuses whatever this package does not support, naming the place and
// the field, so that a definition that loads runs as written. The language is
// described at https://states-language.net/spec.html and in the AWS Step
// Functions Developer Guide; where the two are silent, the observed behaviour
// of AWS decides, and ../README.md says so.
package asl
