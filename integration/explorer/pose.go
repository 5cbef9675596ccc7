package explorer

import "fmt"

// Guards of the pose job, each of which can be taken away.
type poseGuards struct {
	lease  bool // posejob.Store.Claim: a live lease is not taken over
	asRead bool // posejob.claimChange: as the job was read
	fence  bool // posejob.Store.own: attempt, fence and state in every owner's write
	second bool // Await and Complete: whoever comes second answers
	comes  bool // SQS: the message of a job whose owner died comes back
}

var allPose = poseGuards{true, true, true, true, true}

// Where a worker is.
const (
	wIdle   = iota
	wRead   // it has read the job at fence mem
	wWorks  // it holds fence mem
	wStored // the result is stored; the token that it saw is to be answered
	wAway   // nothing is left to do
	wDead
)

const workers = 2

// mostFences bounds how often the job is claimed.
const mostFences = 3

// job is a state of the pose job: workers with the message, and an execution
// that registers its token and waits.
type job struct {
	claimed  bool
	done     bool
	fence    int
	over     bool // the lease has run out
	pc       [workers]int
	mem      [workers]int
	sees     [workers]bool // a token when it stored its result
	token    bool          // registered on the row
	await    int           // 0 not yet, 1 registered and read the row, 2 waiting
	saw      bool          // the execution saw the job done
	answered bool
	stale    bool // a write under an old fence reached the row
	both     bool // one fence was held twice, or a live lease was taken over
	crashes  int
}

// Pose is the model of the job's lease and of the hand-over of token 2.
func Pose(g poseGuards) Model[job] {
	return Model[job]{Next: g.next, Safe: poseSafe, End: poseEnd}
}

func (g poseGuards) next(s job) []Step[job] {
	out := g.execution(s)
	if s.claimed && !s.done && !s.over { // also under a paused owner, who may go on afterwards
		to := s
		to.over = true
		out = append(out, Step[job]{"clock: the lease runs out", to})
	}
	for w := range workers {
		add := func(fn string, to job) {
			out = append(out, Step[job]{fmt.Sprintf("worker %d: %s", w+1, fn), to})
		}
		g.worker(s, w, add)
		if pc := s.pc[w]; (pc == wRead || pc == wWorks || pc == wStored) && s.crashes < 2 {
			to := s
			to.pc[w], to.crashes = wDead, s.crashes+1
			add("crash", to)
		}
		if s.pc[w] == wDead && g.comes { // the message becomes visible; another process takes the dead one's place
			to := s
			to.pc[w], to.mem[w], to.sees[w] = wIdle, 0, false
			add("queue: the message comes back", to)
		}
	}
	return out
}

func (g poseGuards) execution(s job) []Step[job] {
	to := s
	switch s.await {
	case 0:
		to.token, to.await, to.saw = true, 1, s.done
		return []Step[job]{{"execution: posejob.Store.Await", to}}
	case 1:
		if to.await = 2; s.saw && g.second {
			to.answered = true
		}
		return []Step[job]{{"execution: awaitpose answers if it saw the end", to}}
	}
	return nil
}

func (g poseGuards) worker(s job, w int, add func(string, job)) {
	to := s
	switch s.pc[w] {
	case wIdle:
		switch {
		case s.done: // ErrFinished
			to.pc[w] = wAway
			to.answered = s.answered || s.token && g.second
			add("posejob.Store.Claim: finished, answers the token it sees", to)
		case s.claimed && !s.over && g.lease: // HeldError: the message comes again
		default:
			to.pc[w], to.mem[w] = wRead, s.fence
			add("posejob.Store.Get", to)
		}
	case wRead:
		if s.done || g.asRead && s.fence != s.mem[w] || g.asRead && g.lease && s.claimed && !s.over {
			to.pc[w] = wIdle
			add("posejob.Store.take: changed", to)
			return
		}
		if s.fence > mostFences {
			return // the exploration ends here; so many show all that can go wrong
		}
		to.both = s.both || s.claimed && !s.over || s.mem[w]+1 <= s.fence
		to.claimed, to.fence, to.over = true, s.mem[w]+1, false
		to.pc[w], to.mem[w] = wWorks, s.mem[w]+1
		add("posejob.Store.take", to)
	case wWorks:
		if g.fence && (s.done || s.fence != s.mem[w]) {
			to.pc[w] = wIdle
			add("posejob.Store.Complete: lost", to)
			return
		}
		to.stale = s.stale || s.fence != s.mem[w] || s.done
		to.done, to.pc[w], to.sees[w] = true, wStored, s.token
		add("posejob.Store.Complete", to)
	case wStored:
		to.pc[w] = wAway
		to.answered = s.answered || s.sees[w]
		add("tasktoken.Answerer.Success, if it saw a token", to)
	}
}

func poseSafe(s job) error {
	switch {
	case s.stale:
		return fmt.Errorf("I6: a write under an old fence reached the row")
	case s.both:
		return fmt.Errorf("I6: a live lease was taken over, or one fence held twice")
	}
	return nil
}

func poseEnd(s job) error {
	if !s.answered && s.fence <= mostFences {
		return fmt.Errorf("I8: nothing happens any more and the execution waits (done %t)", s.done)
	}
	return nil
}
