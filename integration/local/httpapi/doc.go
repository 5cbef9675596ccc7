// Package httpapi is an API Gateway HTTP API on one machine: it routes by
// names.Routes, checks JSON Web Tokens, and calls the routes' Lambda functions
// with payload format 2.0 events.
//
// What it keeps of API Gateway's behaviour:
//
//   - An unknown route is 404 {"message":"Not Found"}, whatever the token.
//   - A missing or bad token is 401 {"message":"Unauthorized"}; www-authenticate
//     says why. RS256 only, the key found by kid, exp required; nbf, iat and iss
//     are checked; aud must be the app client, or client_id where there is no
//     aud (a Cognito access token has none).
//   - Claims reach the function as strings; a list is written "[a b]".
//   - Header names are lower-case, repeated headers and query parameters are
//     joined by commas, cookies are apart, a body is base64 unless its content
//     type is text.
//   - A function that fails or answers nonsense is 500 {"message":"Internal
//     Server Error"}; one that takes over 30 s is 503 {"message":"Service
//     Unavailable"} and runs on. A body over 10 MB is 413.
//   - With CORS set, preflights are answered here, the function's own CORS
//     headers are replaced, and the gateway's own errors carry them too.
//
// An addition: Authorizer.TokenUse refuses ID tokens, which API Gateway lets
// pass. Do not lean on it: a function that cares must look at token_use itself.
package httpapi
