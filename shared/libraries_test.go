package shared_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// libraries are the packages that a stranger could take.
var libraries = []string{"effect", "lease", "budget", "bedrock", "lambdacall", "awspost", "internal/memtable"}

// productWords are words of this product.
var productWords = regexp.MustCompile(`(?i)\b(analys[ie]s|athletes?|bowl\w*|cricket|fastbowlinglab|clips?|poses?|posejob|credits?|refunds?|footage|keypoints?|deliver(y|ed|ies))\b`)

// A library knows nothing of the product, in code, documentation or examples.
func TestLibrariesHaveNoWordOfTheProduct(t *testing.T) {
	for _, dir := range libraries {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") && filepath.Base(f) != "example_test.go" {
				continue // those run on this product's tables
			}
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(src), "\n") {
				if text := strings.TrimSpace(line); strings.HasPrefix(text, `"fastbowlinglab/shared/`) {
					continue // an import
				}
				if w := productWords.FindString(line); w != "" {
					t.Errorf("%s:%d says %q", f, i+1, w)
				}
			}
		}
	}
}
