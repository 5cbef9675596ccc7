// Package bedrock calls Amazon Bedrock's Converse by its wire protocol: one
// signed POST, no retries, no redirects, the context as the only clock.
//
// The SDK's own client for it would add 1 MB to every function that calls a
// model, more than a function's limit leaves; the signer it shares with the
// other clients is there anyway. integration/bedrock tests that the SDK's client
// sends what this one sends and reads what this one reads. Errors have the shape
// of the SDK's (smithy.OperationError around a response and an API error), so
// that package awserr, which alone reads them, need not know the difference.
//
// It knows nothing of what the models are asked.
package bedrock
