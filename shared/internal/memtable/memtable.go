// Package memtable is one DynamoDB table in memory, with as much of the
// expression language as the examples of effect, lease and budget need: AND, OR,
// =, <, BETWEEN, attribute_not_exists; SET with one addition, ADD, REMOVE. Tests
// of behaviour run on a real database; this is for examples that run anywhere.
package memtable

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]ddb.AttributeValue

// Table is a table whose only key is the string attribute "effect". The zero
// value is empty and ready.
type Table struct {
	mu    sync.Mutex
	items map[string]item
}

// GetItem reads.
func (t *Table) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &dynamodb.GetItemOutput{Item: maps.Clone(t.items[key(in.Key)])}, nil
}

// PutItem writes under a condition.
func (t *Table) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := key(in.Item)
	e := expr{in.ExpressionAttributeNames, in.ExpressionAttributeValues, t.items[k]}
	if err := e.check(in.ConditionExpression); err != nil {
		return nil, err
	}
	t.put(k, maps.Clone(in.Item))
	return &dynamodb.PutItemOutput{}, nil
}

// UpdateItem changes an item under a condition, or makes it.
func (t *Table) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := key(in.Key)
	e := expr{in.ExpressionAttributeNames, in.ExpressionAttributeValues, t.items[k]}
	if err := e.check(in.ConditionExpression); err != nil {
		return nil, err
	}
	next := maps.Clone(in.Key)
	maps.Copy(next, t.items[k])
	if err := e.update(*in.UpdateExpression, next); err != nil {
		return nil, err
	}
	t.put(k, next)
	return &dynamodb.UpdateItemOutput{Attributes: maps.Clone(next)}, nil
}

func (t *Table) put(k string, it item) {
	if t.items == nil {
		t.items = map[string]item{}
	}
	t.items[k] = it
}

func key(it item) string { return it["effect"].(*ddb.AttributeValueMemberS).Value }

// expr is what an expression is about.
type expr struct {
	names  map[string]string
	values item
	old    item
}

func (e expr) attr(s string) string {
	if n, ok := e.names[s]; ok {
		return n
	}
	return s
}

func (e expr) operand(s string) ddb.AttributeValue {
	if strings.HasPrefix(s, ":") {
		return e.values[s]
	}
	return e.old[e.attr(s)]
}

// between finds the AND that joins no terms.
var between = regexp.MustCompile(`BETWEEN (\S+) AND `)

// check evaluates a condition: terms joined by AND, joined by OR.
func (e expr) check(cond *string) error {
	if cond == nil {
		return nil
	}
	for _, any := range strings.Split(*cond, " OR ") {
		any = between.ReplaceAllString(any, "BETWEEN $1 TO ")
		holds := true
		for _, term := range strings.Split(any, " AND ") {
			ok, err := e.term(term)
			if err != nil {
				return err
			}
			holds = holds && ok
		}
		if holds {
			return nil
		}
	}
	return &ddb.ConditionalCheckFailedException{Message: aws.String("The conditional request failed"), Item: maps.Clone(e.old)}
}

func (e expr) term(s string) (bool, error) {
	if name, ok := strings.CutPrefix(s, "attribute_not_exists("); ok {
		_, there := e.old[e.attr(strings.TrimSuffix(name, ")"))]
		return !there, nil
	}
	f := strings.Fields(s)
	if len(f) != 3 && len(f) != 5 {
		return false, fmt.Errorf("memtable: condition %q", s)
	}
	left := e.operand(f[0])
	if left == nil {
		return false, nil
	}
	switch f[1] {
	case "=":
		return compare(left, e.operand(f[2])) == 0, nil
	case "<":
		return compare(left, e.operand(f[2])) < 0, nil
	case "<=":
		return compare(left, e.operand(f[2])) <= 0, nil
	case "BETWEEN":
		return compare(left, e.operand(f[2])) >= 0 && compare(left, e.operand(f[4])) <= 0, nil
	}
	return false, fmt.Errorf("memtable: condition %q", s)
}

// update applies an update expression to next.
func (e expr) update(s string, next item) error {
	clause := ""
	for _, word := range strings.Fields(strings.ReplaceAll(s, ", ", ",")) {
		switch word {
		case "SET", "ADD", "REMOVE":
			clause = word
			s = ""
			continue
		}
		s += " " + word
		switch f := strings.Fields(s); {
		case clause == "REMOVE":
			for _, a := range strings.Split(word, ",") {
				delete(next, e.attr(a))
			}
			s = ""
		case clause == "ADD" && len(f) == 2:
			next[e.attr(f[0])] = add(e.operand(f[0]), e.operand(f[1]))
			s = ""
		}
		if clause == "SET" {
			e.set(s, next)
		}
	}
	return nil
}

// set applies assignments; one that is not whole yet changes nothing that the
// next call does not change again.
func (e expr) set(s string, next item) {
	for _, one := range strings.Split(s, ",") {
		f := strings.Fields(one)
		switch {
		case len(f) == 3 && e.operand(f[2]) != nil:
			next[e.attr(f[0])] = e.operand(f[2])
		case len(f) == 5:
			next[e.attr(f[0])] = add(e.operand(f[2]), e.operand(f[4]))
		}
	}
}

func compare(a, b ddb.AttributeValue) int {
	if x, y := number(a), number(b); x != nil && y != nil {
		return x.Cmp(y)
	}
	x, okx := a.(*ddb.AttributeValueMemberS)
	y, oky := b.(*ddb.AttributeValueMemberS)
	if !okx || !oky {
		return -1
	}
	return strings.Compare(x.Value, y.Value)
}

func number(v ddb.AttributeValue) *big.Int {
	n, ok := v.(*ddb.AttributeValueMemberN)
	if !ok {
		return nil
	}
	x, ok := new(big.Int).SetString(n.Value, 10)
	if !ok {
		return nil
	}
	return x
}

func add(a, b ddb.AttributeValue) ddb.AttributeValue {
	x, y := number(a), number(b)
	if x == nil {
		x = new(big.Int)
	}
	return &ddb.AttributeValueMemberN{Value: new(big.Int).Add(x, y).String()}
}
