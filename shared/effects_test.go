package shared_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An effect is a request to AWS that may change something. Every AWS operation
// that we use is a method of a small interface of ours whose second parameter is
// the operation's *XInput, so the interfaces say which operations there are.

// reads start the names of operations that change nothing.
var reads = []string{"Get", "BatchGet", "TransactGet", "List", "Describe", "Query", "Scan", "Head", "Presign"}

// skipped packages serve tests, or only pass on what their callers ask for; the
// callers of txn.Write count.
var skipped = []string{"shared/internal", "shared/dynamotest", "shared/txn", "functions/internal/posetest"}

// TestEveryEffectHasARow fails when the code has an effect that README.md's
// table does not explain, or the table explains one that the code has not.
func TestEveryEffectHasARow(t *testing.T) {
	files := sources(t)
	ops := operations(files)
	sites := map[string]bool{}
	for dir, fs := range files {
		for _, f := range fs {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && hasEffect(fn.Body, ops) {
					sites[dir+"."+name(fn)] = true
				}
			}
		}
	}
	if len(sites) < 15 {
		t.Fatalf("found only %d effects: the search is broken", len(sites))
	}
	rows := rows(t)
	for _, s := range slices.Sorted(maps.Keys(sites)) {
		if !rows[s] {
			t.Errorf("%s has an effect that shared/README.md does not explain", s)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(rows)) {
		if !sites[r] {
			t.Errorf("shared/README.md explains an effect of %s, which has none", r)
		}
	}
}

// sources parses the code of shared and functions, by folder.
func sources(t *testing.T) map[string][]*ast.File {
	t.Helper()
	set := token.NewFileSet()
	out := map[string][]*ast.File{}
	for _, root := range []string{"shared", "functions"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, ".."+string(filepath.Separator))))
			if slices.ContainsFunc(skipped, func(s string) bool { return dir == s || strings.HasPrefix(dir, s+"/") }) {
				return nil
			}
			f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			out[dir] = append(out[dir], f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// operations collects the methods of our interfaces that take a *XInput and do
// not only read.
func operations(files map[string][]*ast.File) map[string]bool {
	ops := map[string]bool{}
	for _, fs := range files {
		for _, f := range fs {
			ast.Inspect(f, func(n ast.Node) bool {
				it, ok := n.(*ast.InterfaceType)
				if !ok {
					return true
				}
				for _, m := range it.Methods.List {
					fn, ok := m.Type.(*ast.FuncType)
					if ok && len(m.Names) == 1 && takesInput(fn) && !slices.ContainsFunc(reads, func(p string) bool { return strings.HasPrefix(m.Names[0].Name, p) }) {
						ops[m.Names[0].Name] = true
					}
				}
				return true
			})
		}
	}
	return ops
}

func takesInput(fn *ast.FuncType) bool {
	if len(fn.Params.List) < 2 {
		return false
	}
	star, ok := fn.Params.List[1].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && strings.HasSuffix(sel.Sel.Name, "Input")
}

// hasEffect tells whether a body calls one of the operations, txn.Write, or the
// Once of package effect, under which calls to others are made.
func hasEffect(body ast.Node, ops map[string]bool) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			pkg, _ := sel.X.(*ast.Ident)
			found = found || ops[sel.Sel.Name] || sel.Sel.Name == "Once" && len(call.Args) == 4 || pkg != nil && pkg.Name == "txn" && sel.Sel.Name == "Write"
		}
		return true
	})
	return found
}

// name is Type.Method, or Func.
func name(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if ix, ok := typ.(*ast.IndexListExpr); ok {
		typ = ix.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

var site = regexp.MustCompile("`((?:shared|functions)/[a-z0-9_/]+\\.[A-Za-z0-9_.]+)`")

// rows reads the last column of the effects table.
func rows(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(b), "\n## Effects\n")
	if !ok {
		t.Fatal("README.md has no section Effects")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	out := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 6 {
			continue
		}
		for _, c := range cells[:5] {
			if strings.TrimSpace(c) == "" {
				t.Errorf("a row with an empty cell: %s", line)
			}
		}
		for _, m := range site.FindAllStringSubmatch(cells[5], -1) {
			out[m[1]] = true
		}
	}
	return out
}
