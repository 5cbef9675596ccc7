package promises

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Untried lists the checks of the package in dir that none of these violations
// came from: a check that was never seen to fail may be one that cannot. A check
// is a call with an invariant and a format as constants, of any function:
//
//	found("I3", "balance %d", l.Balance)
//
// A format that only passes an error on ("...: %v") is no check but a look that
// failed.
func Untried(dir string, seen []Violation) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if invariant, format, ok := checkIn(n); ok && !shown(invariant, format, seen) {
				out = append(out, filepath.Base(name)+": "+invariant+" "+format)
			}
			return true
		})
	}
	return out, nil
}

var invariant = regexp.MustCompile(`^I[1-9]$`)

// checkIn reads a check out of the source.
func checkIn(n ast.Node) (inv, format string, ok bool) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall || len(call.Args) < 2 {
		return "", "", false
	}
	inv, format = literal(call.Args[0]), literal(call.Args[1])
	return inv, format, invariant.MatchString(inv) && format != "" && !strings.HasSuffix(": "+format, ": %v")
}

func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return s
}

var verb = regexp.MustCompile(`%[0-9.]*[a-z]`)

// shown reports whether one of the violations is of this format.
func shown(inv, format string, seen []Violation) bool {
	parts := verb.Split(format, -1)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	like := regexp.MustCompile(`(?s)^` + strings.Join(parts, `.*`) + `$`)
	for _, v := range seen {
		if v.Invariant == inv && like.MatchString(v.Detail) {
			return true
		}
	}
	return false
}
