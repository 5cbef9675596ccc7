package release

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

//go:embed testdata/*/*.json
var files embed.FS

// Contract is what one release promised to those that come after it.
type Contract struct {
	Definition string                      // with its placeholders
	Inputs     map[string]json.RawMessage  // payload by state
	Functions  map[string]string           // function by state
	Rows       map[string][]map[string]any // by table, as JSON of DynamoDB
	Access     map[string][]string         // by program, and by state machine: "action on resource"
	Flags      map[string]string           // as they shipped
	Execution  string                      // name of the recorded execution
	HTTP       HTTPRoad
}

// HTTPRoad is what an analysis on the HTTP road leaves in the middle: Rows, Inputs
// and Execution are those of one on the queue road.
type HTTPRoad struct {
	Execution string
	Running   map[string][]map[string]any // rows when the worker tells its result
	Callback  json.RawMessage             // what it tells
	Ending    map[string][]map[string]any // rows when the analysis is about to be delivered
}

// Load reads the contract of a release.
func Load(release string) (Contract, error) {
	var c Contract
	b, err := files.ReadFile("testdata/" + release + "/contract.json")
	if err != nil {
		return c, fmt.Errorf("contract of release %s: %w", release, err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("contract of release %s: %w", release, err)
	}
	def, err := files.ReadFile("testdata/" + release + "/analysis.asl.json")
	if err != nil {
		return c, fmt.Errorf("definition of release %s: %w", release, err)
	}
	c.Definition = string(def)
	return c, nil
}

var placeholder = regexp.MustCompile(`\$\{(\w+)\}`)

// Fill puts the functions of today into the definition. A function that is no
// longer there is an error: a run in flight would call it.
func (c Contract) Fill(arns map[string]string) ([]byte, error) {
	var missing []string
	out := placeholder.ReplaceAllStringFunc(c.Definition, func(m string) string {
		arn := arns[m[2:len(m)-1]]
		if arn == "" {
			missing = append(missing, m)
		}
		return arn
	})
	if missing != nil {
		return nil, fmt.Errorf("the definition of the release before calls %v, which is gone", missing)
	}
	return []byte(out), nil
}

// encode and decode turn a row into DynamoDB's JSON and back.
func encode(item map[string]ddb.AttributeValue) map[string]any {
	out := map[string]any{}
	for k, v := range item {
		out[k] = encodeValue(v)
	}
	return out
}

func encodeValue(v ddb.AttributeValue) map[string]any {
	switch v := v.(type) {
	case *ddb.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *ddb.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *ddb.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *ddb.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *ddb.AttributeValueMemberM:
		return map[string]any{"M": encode(v.Value)}
	case *ddb.AttributeValueMemberL:
		l := []any{}
		for _, e := range v.Value {
			l = append(l, encodeValue(e))
		}
		return map[string]any{"L": l}
	}
	return map[string]any{"NULL": true}
}

func decode(row map[string]any) (map[string]ddb.AttributeValue, error) {
	out := map[string]ddb.AttributeValue{}
	for k, v := range row {
		a, err := decodeValue(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		out[k] = a
	}
	return out, nil
}

func decodeValue(v any) (ddb.AttributeValue, error) {
	m, _ := v.(map[string]any)
	for kind, x := range m {
		switch x := x.(type) {
		case string:
			switch kind {
			case "S":
				return &ddb.AttributeValueMemberS{Value: x}, nil
			case "N":
				return &ddb.AttributeValueMemberN{Value: x}, nil
			case "B":
				var b []byte
				err := json.Unmarshal([]byte(`"`+x+`"`), &b)
				return &ddb.AttributeValueMemberB{Value: b}, err
			}
		case bool:
			if kind == "BOOL" {
				return &ddb.AttributeValueMemberBOOL{Value: x}, nil
			}
			return &ddb.AttributeValueMemberNULL{Value: true}, nil
		case map[string]any:
			in, err := decode(x)
			return &ddb.AttributeValueMemberM{Value: in}, err
		case []any:
			l := &ddb.AttributeValueMemberL{}
			for _, e := range x {
				a, err := decodeValue(e)
				if err != nil {
					return nil, err
				}
				l.Value = append(l.Value, a)
			}
			return l, nil
		}
	}
	return nil, fmt.Errorf("not a value of DynamoDB: %v", v)
}
