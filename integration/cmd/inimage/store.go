package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// store is a folder of images, as integration/setup/image.sh makes it.
type store struct{ folder string }

func (s store) buildah(args ...string) *exec.Cmd {
	return exec.Command("buildah", append([]string{"--root", filepath.Join(s.folder, "images"),
		"--runroot", filepath.Join(s.folder, "run"), "--storage-driver", "vfs"}, args...)...)
}

func (s store) output(args ...string) (string, error) {
	out, err := s.buildah(args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

func image(target string) string { return "localhost/fbl-" + target }

// entry is the image's entry point. One in shell form would not get signals.
func (s store) entry(target string) ([]string, error) {
	out, err := s.output("inspect", "--type", "image", image(target))
	if err != nil {
		return nil, fmt.Errorf("image %s (make image builds it): %w", image(target), err)
	}
	var made struct {
		OCIv1 struct{ Config struct{ Entrypoint []string } }
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		return nil, fmt.Errorf("image %s: %w", image(target), err)
	}
	entry := made.OCIv1.Config.Entrypoint
	if len(entry) == 0 || entry[0] == "/bin/sh" {
		return nil, fmt.Errorf("image %s has the entry point %q, want one in exec form", image(target), entry)
	}
	return entry, nil
}

// create makes a container named after this process, and removes those of
// processes that were killed.
func (s store) create(target string) (string, error) {
	if out, err := s.output("containers", "--format", "{{.ContainerName}}"); err == nil {
		for _, name := range strings.Fields(out) {
			pid, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
			if _, gone := os.Stat(fmt.Sprintf("/proc/%d", pid)); strings.HasPrefix(name, "fbl-") && err == nil && gone != nil {
				s.remove(name)
			}
		}
	}
	name := fmt.Sprintf("fbl-%s-%d", target, os.Getpid())
	if _, err := s.output("from", "--pull-never", "--name", name, image(target)); err != nil {
		return "", fmt.Errorf("make a container of %s: %w", image(target), err)
	}
	return name, nil
}

func (s store) remove(name string) { _, _ = s.output("rm", name) } // what stays is removed by the next one

// find gives the process below root whose program was started as entry, 0 for none.
func find(root int, entry string) int {
	for pid := range below(root) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
			if first, _, _ := strings.Cut(string(b), "\x00"); first == entry {
				return pid
			}
		}
	}
	return 0
}

// below lists a process and all that descend from it.
func below(root int) map[int]bool {
	parents := map[int]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, d := range dirs {
		b, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(d))
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	out := map[int]bool{root: true}
	for grown := true; grown; {
		grown = false
		for pid, parent := range parents {
			if out[parent] && !out[pid] {
				out[pid], grown = true, true
			}
		}
	}
	return out
}
