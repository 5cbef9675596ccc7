package cases

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fastbowlinglab/integration/local"
)

var (
	row     = regexp.MustCompile(`^\| (\d+) \|[^|]*\|(.*)\|$`)
	folder  = regexp.MustCompile("`([a-z][a-z0-9/]*)`: ((?:`Test\\w+`(?:, )?)+)")
	name    = regexp.MustCompile("`(Test\\w+)`")
	heading = regexp.MustCompile(`^\*\*(\d+)\. `)
)

// table reads the README's table: the tests of each case, as "folder test".
func table(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	each(t, "README.md", func(line string) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			return
		}
		for _, f := range folder.FindAllStringSubmatch(m[2], -1) {
			for _, n := range name.FindAllStringSubmatch(f[2], -1) {
				out[m[1]] = append(out[m[1]], f[1]+" "+n[1])
			}
		}
	})
	return out
}

func each(t *testing.T, file string, line func(string)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line(s.Text())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// Every test that the table names is there.
func TestTableNamesTests(t *testing.T) {
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	all := table(t)
	if len(all) < 40 {
		t.Fatalf("the table has %d cases", len(all))
	}
	for n, tests := range all {
		for _, it := range tests {
			dir, test, _ := strings.Cut(it, " ")
			files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(b), "\nfunc "+test+"(t *testing.T)")
			}
			if !found {
				t.Errorf("case %s: there is no %s in %s", n, test, dir)
			}
		}
	}
}

// Every field case has tests.
func TestEveryCaseIsInTheTable(t *testing.T) {
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(root, "..", "shared", "cases", "README.md")
	if _, err := os.Stat(list); err != nil {
		t.Skipf("../shared/cases is not here: %v", err)
	}
	all, found := table(t), 0
	each(t, list, func(line string) {
		if m := heading.FindStringSubmatch(line); m != nil {
			found++
			if len(all[m[1]]) == 0 {
				t.Errorf("no test of case %s: %s", m[1], line)
			}
		}
	})
	if found != len(all) {
		t.Errorf("%d cases, %d in the table", found, len(all))
	}
}
