package reason_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"fastbowlinglab/shared/reason"
)

// Every code that is declared has a row, so that somebody decided whether an
// analysis that ends so counts against the athlete.
func TestEveryCodeHasARow(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var declared []reason.Code
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, reason.Code(s))
		return true
	})
	slices.Sort(declared)
	if rows := reason.Codes(); !slices.Equal(declared, rows) || len(rows) < 20 {
		t.Errorf("declared are %q, rows have %q", declared, rows)
	}
	for _, c := range declared {
		if c.Sentence() == "" || c.Sentence() == reason.Code("a code of a later release").Sentence() {
			t.Errorf("%s has no sentence of its own", c)
		}
	}
}

func TestOurs(t *testing.T) {
	for code, want := range map[reason.Code]bool{
		reason.NotBowling: false, reason.MediaCut: false, reason.Cancelled: false, reason.NotUploaded: false,
		reason.StageFailed: true, reason.DeadlinePassed: true, reason.ModelNoAnswer: true,
		"a code of a later release": true,
	} {
		if code.Ours() != want {
			t.Errorf("%s: ours is %v", code, !want)
		}
		if code.Media() && code.Ours() {
			t.Errorf("%s blames the file and us", code)
		}
	}
}
