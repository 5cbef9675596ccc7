// Package infra is the CDK app: the stacks that turn the declarations of
// shared/names and the definitions of statemachine into CloudFormation.
//
// Stacks that hold what must never be lost (tables, bucket, users, secrets)
// are apart from those that can be made again. Nothing outside this folder
// imports the CDK.
package infra
