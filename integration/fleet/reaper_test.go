package fleet_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"

	"fastbowlinglab/integration/fleet"
	"fastbowlinglab/shared/posejob"
)

// reaper kills workers that are at work, or stops them for so long that another takes
// their job over.
type reaper struct {
	w            *world
	rnd          *rand.Rand
	kills, stops int
	struck       map[string]int // how many checkpoints a job had when its pass was struck last
	stopped      *victim        // at most one at a time
}

// victim is a stopped worker and the job that it held.
type victim struct {
	pid   int
	job   string
	fence int64
}

func newReaper(w *world) *reaper {
	r := &reaper{w: w, rnd: rand.New(rand.NewPCG(5, 8)), struck: map[string]int{}}
	w.t.Cleanup(func() {
		if r.stopped != nil {
			_ = syscall.Kill(r.stopped.pid, syscall.SIGCONT) // it may have gone
		}
	})
	return r
}

// strike sends a busy worker the signal, if there is one. A job whose owner is lost
// three times without having saved anything is poison, and rightly given up: each is
// struck again only when it has saved something since. A worker is stopped in the first
// half of a job, so that it has something left to do wrongly when it wakes up. It
// reports whether it found one.
func (r *reaper) strike(open []string, signal syscall.Signal) bool {
	if signal == syscall.SIGSTOP && r.stopped != nil {
		return false
	}
	pids := r.w.Tasks().Pids()
	r.rnd.Shuffle(len(pids), func(i, j int) { pids[i], pids[j] = pids[j], pids[i] })
	for _, pid := range pids {
		if r.stopped != nil && r.stopped.pid == pid {
			continue
		}
		for _, id := range open {
			j := r.w.job(id)
			if j.State != posejob.Claimed || !strings.Contains(j.Owner, "/"+strconv.Itoa(pid)+"/") {
				continue
			}
			n := len(j.Checkpoints)
			if at, before := r.struck[id]; before && at == n || signal == syscall.SIGSTOP && (n == 0 || n > fleet.Chunks/2) {
				continue
			}
			r.struck[id] = n
			if err := syscall.Kill(pid, signal); err != nil {
				return false
			}
			if signal == syscall.SIGSTOP {
				r.stops, r.stopped = r.stops+1, &victim{pid, id, j.Fence}
			} else {
				r.kills++
			}
			return true
		}
	}
	return false
}

// wake lets the stopped worker go on once another owns its job, or has ended it.
func (r *reaper) wake() {
	v := r.stopped
	if v == nil {
		return
	}
	if j := r.w.job(v.job); j.Fence > v.fence || j.State.Ended() {
		_ = syscall.Kill(v.pid, syscall.SIGCONT) // it may have gone
		r.stopped = nil
	}
}
