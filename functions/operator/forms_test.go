package operator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var form = regexp.MustCompile("`(\\{\"action\":.*?\\})`")

// TestEveryActionHasItsForm: the runbook's forms are those that the function takes,
// all of them, field by field.
func TestEveryActionHasItsForm(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "statemachine", "OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	documented := map[string]bool{}
	for _, m := range form.FindAllStringSubmatch(string(page), -1) {
		got := w.ask(t, m[1])
		if strings.Contains(got, "the input is not as") || strings.Contains(got, "there are [") || strings.Contains(got, "is needed") {
			t.Errorf("the form %s is refused: %s", m[1], got)
		}
		documented[regexp.MustCompile(`"action":"(\w+)"`).FindStringSubmatch(m[1])[1]] = true
	}
	_, list, _ := strings.Cut(w.ask(t, `{"action":"?","operator":"ada"}`), "there are [")
	list, _, _ = strings.Cut(list, "]")
	for _, action := range strings.Fields(list) {
		if !documented[action] {
			t.Errorf("statemachine/OPERATIONS.md has no form for %s", action)
		}
		delete(documented, action)
	}
	if len(documented) > 0 {
		t.Errorf("forms for %v, which there is not", documented)
	}
}
