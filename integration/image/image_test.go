package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/demo/embedded"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

var built struct {
	once  sync.Once
	store string
	skip  string
	err   error
}

// images builds the images once and gives their folder.
func images(t *testing.T) (root, store string) {
	t.Helper()
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	built.once.Do(func() {
		built.store = filepath.Join(root, ".local/images")
		cmd := exec.Command("make", "--no-print-directory", "-C", root, "image")
		out, err := cmd.CombinedOutput()
		text := strings.TrimSpace(string(out))
		fmt.Println(text)
		for line := range strings.Lines(text) {
			if strings.Contains(line, "cannot be built here") {
				built.skip = strings.TrimSpace(line)
			}
		}
		if err != nil && built.skip == "" {
			built.err = fmt.Errorf("make image: %w", err)
		}
	})
	if built.skip != "" {
		t.Skip(built.skip)
	}
	if built.err != nil {
		t.Fatal(built.err)
	}
	return root, built.store
}

func buildah(t *testing.T, store string, args ...string) string {
	t.Helper()
	cmd := exec.Command("buildah", append([]string{"--root", filepath.Join(store, "images"), "--runroot", filepath.Join(store, "run"), "--storage-driver", "vfs"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("buildah %v: %v: %s", args, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestImages: what the Dockerfile says of each is so in what was built.
func TestImages(t *testing.T) {
	_, store := images(t)
	for _, name := range []string{names.PoseWorker, names.FnPrecheck} {
		var made struct {
			OCIv1 struct {
				OS, Architecture string
				Config           struct {
					User            string
					Entrypoint, Env []string
				}
			}
		}
		if err := json.Unmarshal([]byte(buildah(t, store, "inspect", "--type", "image", "localhost/fbl-"+name)), &made); err != nil {
			t.Fatal(err)
		}
		got := made.OCIv1.Config
		if got.User != "10001:10001" || len(got.Entrypoint) != 1 || got.Entrypoint[0] != "/usr/local/bin/"+name {
			t.Errorf("%s runs %q as %q", name, got.Entrypoint, got.User)
		}
		if env := strings.Join(got.Env, " "); !strings.Contains(env, "MODELS_DIR=/opt/pose/models") || !strings.Contains(env, "ORT_LIBRARY=/opt/pose/libonnxruntime.so.1") {
			t.Errorf("%s has the environment %s", name, env)
		}
		if made.OCIv1.OS != "linux" || made.OCIv1.Architecture != "amd64" {
			t.Errorf("%s is for %s/%s", name, made.OCIv1.OS, made.OCIv1.Architecture)
		}
	}
}

// TestMainJobInImages runs the main job with the worker and the precheck in their
// images. The worker may write nowhere, as on Fargate with its root read-only; it
// is then stopped as ECS stops it, and leaves by itself.
func TestMainJobInImages(t *testing.T) {
	root, store := images(t)
	engine := filepath.Join(t.TempDir(), "inimage")
	if out, err := exec.Command("go", "build", "-o", engine, "../cmd/inimage").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cfg, err := local.Config{Logs: t.TempDir(), Schedules: map[string]time.Duration{names.FnReconcile: -1}}.InImages(store, engine)
	if err != nil {
		t.Fatal(err)
	}
	c, err := local.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	sum, err := demo.Run(ctx, embedded.Config(c, filepath.Join(root, "integration/samples/bowler.mp4"), "", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Status != string(analysis.Ready) {
		t.Errorf("the analysis ended %s (%s)", sum.Status, sum.Reason)
	}
	stopped(t, c, cfg.Logs)
	for _, name := range strings.Fields(buildah(t, store, "containers", "--format", "{{.ContainerName}}")) {
		if strings.HasPrefix(name, "fbl-"+names.PoseWorker) {
			t.Errorf("the stopped worker's container %s is left", name)
		}
	}
}

// stopped stops the service, and sees that the worker in the image got SIGTERM,
// said that it leaves, and left before it was killed.
func stopped(t *testing.T, c *local.Cloud, logs string) {
	t.Helper()
	pids := c.Tasks().Pids()
	if len(pids) == 0 {
		t.Fatal("no worker runs")
	}
	begun := time.Now()
	if _, err := ecs.NewFromConfig(c.AWS()).UpdateService(t.Context(), &ecs.UpdateServiceInput{Cluster: aws.String(names.Cluster),
		Service: aws.String(names.PoseService), DesiredCount: aws.Int32(0)}); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		for syscall.Kill(pid, 0) == nil {
			if time.Since(begun) > names.StopGrace {
				t.Fatalf("the worker, pid %d, did not leave", pid)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	t.Logf("SIGTERM to exit: %.1f s", time.Since(begun).Seconds())
	files, err := filepath.Glob(filepath.Join(logs, names.PoseService+"-*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log of the worker, %v", err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"msg":"worker down"`) {
		t.Errorf("the worker did not say that it leaves:\n%s", b)
	}
}
