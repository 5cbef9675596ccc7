package lambdaapi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// versions keeps published programs as <dir>/<function>/<n>/bootstrap, with the
// program's SHA-256 beside it. Publishing a program that has not changed gives
// the version that is there. The newest `keep` versions stay.
type versions struct {
	dir  string
	keep int
}

// publish makes a version of the program at path, or finds the one whose
// contents are the same and newest.
func (v versions) publish(name, path string) (string, error) {
	sum, err := sumOf(path)
	if err != nil {
		return "", fmt.Errorf("publish %s: %w", name, err)
	}
	for try := 0; ; try++ {
		ns, err := v.list(name)
		if err != nil {
			return "", fmt.Errorf("publish %s: %w", name, err)
		}
		next := 1
		if len(ns) > 0 {
			last := ns[len(ns)-1]
			if b, err := os.ReadFile(v.file(name, last, "sha256")); err == nil && string(b) == sum {
				return strconv.Itoa(last), nil
			}
			next = last + 1
		}
		err = v.add(name, next, path, sum)
		if err == nil {
			return strconv.Itoa(next), v.prune(name)
		}
		if !errors.Is(err, fs.ErrExist) || try == 3 { // somebody else published meanwhile: look again
			return "", fmt.Errorf("publish %s version %d: %w", name, next, err)
		}
	}
}

// program is the path of a published version's program.
func (v versions) program(name, version string) (string, bool) {
	n, err := strconv.Atoi(version)
	if err != nil || n < 1 || strconv.Itoa(n) != version {
		return "", false
	}
	p := v.file(name, n, "bootstrap")
	_, err = os.Stat(p)
	return p, err == nil
}

func (v versions) file(name string, n int, base string) string {
	return filepath.Join(v.dir, name, strconv.Itoa(n), base)
}

// list gives the versions there are, oldest first.
func (v versions) list(name string) ([]int, error) {
	es, err := os.ReadDir(filepath.Join(v.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ns []int
	for _, e := range es {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			ns = append(ns, n)
		}
	}
	slices.Sort(ns)
	return ns, nil
}

// add copies the program aside and puts it in place with one rename, so that a
// version is there whole or not at all.
func (v versions) add(name string, n int, path, sum string) (err error) {
	home := filepath.Join(v.dir, name)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(home, "new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := copyProgram(path, filepath.Join(tmp, "bootstrap")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "sha256"), []byte(sum), 0o644); err != nil {
		return err
	}
	to := filepath.Join(home, strconv.Itoa(n))
	if _, err := os.Stat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(tmp, to)
}

func (v versions) prune(name string) error {
	ns, err := v.list(name)
	if err != nil {
		return err
	}
	for len(ns) > v.keep {
		if err := os.RemoveAll(filepath.Join(v.dir, name, strconv.Itoa(ns[0]))); err != nil {
			return err
		}
		ns = ns[1:]
	}
	return nil
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return strings.ToLower(hex.EncodeToString(h.Sum(nil))), nil
}
