// Package signin stands in for the pages and the OAuth 2.0 endpoints of a
// Cognito user pool's domain: authorize, login, token, revoke and logout, for one
// public client. It keeps the rules that a client can break:
//
//   - Client, redirect_uri, logout_uri and scope are compared exactly; a wrong
//     redirect_uri is never redirected to.
//   - Only the authorization code is granted, only with PKCE by S256 (Cognito
//     would let a client do without), and the verifier is checked.
//   - A code is good for five minutes and once. A second use ends what the first
//     one got, as RFC 6749, 4.1.2 advises.
//   - A refresh token is replaced at each use and then good for one more minute;
//     all of them end some hours after signing in, or when one is revoked.
//   - The cookie of the pages signs in again without asking, until logout.
//
// It asks for no password: whoever reaches this machine may be anybody, as with
// everything of the embedded cloud. Its state is in memory; after a restart
// people sign in again.
package signin
