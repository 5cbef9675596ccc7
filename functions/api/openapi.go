package api

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
)

// document is the OpenAPI 3.1 description of this API. A test writes it from the
// routes and the types of this package (go test ./functions/api -run OpenAPI
// -update) and fails while the two differ.
//
//go:embed openapi.json
var document []byte

func (d Deps) openAPI(context.Context, request) (answer, error) {
	return answer{Status: http.StatusOK, Body: json.RawMessage(document), ETag: true}, nil
}
