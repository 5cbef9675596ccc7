package wire

import "testing"

func TestLookupNamesEveryMissingVariable(t *testing.T) {
	env := map[string]string{"B": "b", "EMPTY": ""}
	get := func(n string) (string, bool) { v, ok := env[n]; return v, ok }
	if v, err := lookup(get, []string{"B"}); err != nil || v["B"] != "b" {
		t.Errorf("lookup(B) = %v, %v", v, err)
	}
	_, err := lookup(get, []string{"Z", "B", "EMPTY"})
	if err == nil || err.Error() != "environment variables are missing: EMPTY, Z" {
		t.Errorf("lookup of missing variables: %v", err)
	}
}
