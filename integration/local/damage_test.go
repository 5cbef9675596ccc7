package local

import (
	"os"
	"path/filepath"
	"testing"
)

// Kept state that cannot be read is an error that names the log and the way out,
// and not a cloud that begins anew.
func TestDamagedStateIsSaid(t *testing.T) {
	root, err := FindRoot()
	check(t, err)
	if _, err := os.Stat(filepath.Join(root, "node_modules/@dynoxide/linux-x64/dynoxide")); err != nil {
		t.Skip("dynoxide is not installed (npm install)")
	}
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "dynamodb.sqlite"), []byte("no database"), 0o644))
	c, err := Start(t.Context(), Config{Dir: dir, Functions: testFunctions, Definition: testDefinition, Binaries: binaries(t)})
	if err == nil {
		t.Error(c.Close())
		t.Fatal("a cloud started on a damaged database")
	}
	contains(t, err.Error(), "dynoxide.log says why")
	contains(t, err.Error(), "make clean")
}
