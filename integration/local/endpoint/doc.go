// Package endpoint is the one address of the embedded cloud. It tells the AWS
// services apart by what a request carries (X-Amz-Target, the SigV4 scope, its
// path), hands it to the service's handler, and can put a fault in between.
//
// A Router is a plain http.Handler: behind a listener in real time, or called
// directly through Transport when no socket may be used (virtual time).
package endpoint
