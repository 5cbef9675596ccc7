package engine

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"fastbowlinglab/shared/pose/internal/tflite"
)

// environment is ONNX Runtime's own, one for the process.
var environment struct {
	sync.Mutex
	library string
}

func initialise(library string) error {
	environment.Lock()
	defer environment.Unlock()
	if environment.library != "" {
		if environment.library != library {
			return fmt.Errorf("ONNX Runtime is loaded from %s already", environment.library)
		}
		return nil
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return fmt.Errorf("load ONNX Runtime: %w", err)
	}
	environment.library = library
	return nil
}

// session is a loaded model. Its runs may be concurrent; each needs a bench.
type session struct {
	s    *ort.DynamicAdvancedSession
	h, w int

	cpu, runs atomic.Int64 // nanoseconds of processor time in the model, and how often it ran
	outs      []tflite.Output
}

// newSession turns weights into a session that gives the wanted outputs.
func newSession(file []byte, outputs ...string) (*session, error) {
	m, err := tflite.Read(file)
	if err != nil {
		return nil, err
	}
	if err := m.Keep(outputs...); err != nil {
		return nil, err
	}
	onnx, err := m.ONNX()
	if err != nil {
		return nil, err
	}
	opt, err := options()
	if err != nil {
		return nil, fmt.Errorf("session options: %w", err)
	}
	defer opt.Destroy()
	s := &session{outs: m.Outputs()}
	s.h, s.w = m.InputSize()
	s.s, err = ort.NewDynamicAdvancedSessionWithONNXData(onnx, []string{tflite.InputName}, outputs, opt)
	if err != nil {
		return nil, fmt.Errorf("make session: %w", err)
	}
	// The weights were held several times over on the way: give that back now,
	// since what follows allocates too little for the collector to hurry.
	debug.FreeOSMemory()
	return s, nil
}

// options: one thread that does not spin (cores are shared with the decoder and
// with other passes), and no arena, which would keep the largest buffers of the
// set-up for ever.
func options() (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		o.SetIntraOpNumThreads(1),
		o.SetInterOpNumThreads(1),
		o.SetExecutionMode(ort.ExecutionModeSequential),
		o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
		o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
		o.SetCpuMemArena(false),
		o.SetMemPattern(true),
	)
	if err != nil {
		o.Destroy()
		return nil, err
	}
	return o, nil
}

func (s *session) close() error {
	if s == nil {
		return nil
	}
	return s.s.Destroy()
}

// bench holds the input and output buffers of one run at a time.
type bench struct {
	s    *session
	in   *ort.Tensor[float32]
	outs []*ort.Tensor[float32]
}

func (s *session) bench() (*bench, error) {
	in, err := ort.NewEmptyTensor[float32](ort.NewShape(1, int64(s.h), int64(s.w), 3))
	if err != nil {
		return nil, err
	}
	b := &bench{s: s, in: in}
	for _, o := range s.outs {
		shape := make([]int64, len(o.Shape))
		for i, d := range o.Shape {
			shape[i] = int64(d)
		}
		t, err := ort.NewEmptyTensor[float32](ort.NewShape(shape...))
		if err != nil {
			b.close()
			return nil, err
		}
		b.outs = append(b.outs, t)
	}
	return b, nil
}

func (b *bench) close() {
	if b == nil {
		return
	}
	b.in.Destroy()
	for _, t := range b.outs {
		t.Destroy()
	}
}

// run runs the model on what was put into input.
func (b *bench) run() error {
	outs := make([]ort.Value, len(b.outs))
	for i, t := range b.outs {
		outs[i] = t
	}
	runtime.LockOSThread() // a session runs in the thread that calls it
	defer runtime.UnlockOSThread()
	begun := threadCPU()
	err := b.s.s.Run([]ort.Value{b.in}, outs)
	b.s.cpu.Add(int64(threadCPU() - begun))
	b.s.runs.Add(1)
	return err
}

// threadCPU is the processor time of the calling thread, 0 where it cannot be had.
func threadCPU() time.Duration {
	const rusageThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (b *bench) input() []float32       { return b.in.GetData() }
func (b *bench) output(i int) []float32 { return b.outs[i].GetData() }
