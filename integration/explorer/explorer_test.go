package explorer

import (
	"errors"
	"strings"
	"testing"
)

func holds[S comparable](t *testing.T, name string, m Model[S]) {
	t.Helper()
	n, err := Explore(m)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if n < 100 {
		t.Errorf("%s: only %d states: the model says little", name, n)
	}
	t.Logf("%s: %d states, all safe", name, n)
}

func breaks[S comparable](t *testing.T, name, want string, m Model[S]) {
	t.Helper()
	n, err := Explore(m)
	var b *Broken
	if !errors.As(err, &b) || !strings.HasPrefix(b.Err.Error(), want) {
		t.Errorf("without %s: %v after %d states, want %s broken", name, err, n, want)
		return
	}
	t.Logf("without %s, after %d states: %v", name, n, err)
}

func TestEveryInterleavingIsSafe(t *testing.T) {
	holds(t, "money", Money(allMoney))
	holds(t, "paid call", Call(allCall))
	holds(t, "pose job", Pose(allPose))
}

// The model can fail: without a guard, its promise breaks.
func TestWithoutAGuard(t *testing.T) {
	without := func(change func(*moneyGuards)) Model[money] { g := allMoney; change(&g); return Money(g) }
	breaks(t, "the end's condition", "I1", without(func(g *moneyGuards) { g.endCondition = false }))
	breaks(t, "the attempt", "I1", without(func(g *moneyGuards) { g.attempt = false }))
	breaks(t, "one transaction", "I2", without(func(g *moneyGuards) { g.oneWrite = false }))
	breaks(t, "the reservation's key", "I3", without(func(g *moneyGuards) { g.reserveKey, g.balance = false, false }))
	breaks(t, "the balance", "I3", without(func(g *moneyGuards) { g.balance = false }))
	breaks(t, "the notice's claim", "I4", without(func(g *moneyGuards) { g.noticeClaim = false }))

	call := func(change func(*callGuards)) Model[paidCall] { g := allCall; change(&g); return Call(g) }
	breaks(t, "the claim", "I5", call(func(g *callGuards) { g.insert = false }))
	breaks(t, "the row as seen", "I5", call(func(g *callGuards) { g.replace = false }))
	breaks(t, "the claim's end", "I5", call(func(g *callGuards) { g.until = false }))
	breaks(t, "the bound on takeovers", "I5", call(func(g *callGuards) { g.takeover = false }))
	breaks(t, "the owner", "I5", call(func(g *callGuards) { g.owner = false }))
	breaks(t, "the context's end", "I5", call(func(g *callGuards) { g.deadline = false }))

	pose := func(change func(*poseGuards)) Model[job] { g := allPose; change(&g); return Pose(g) }
	breaks(t, "the lease", "I6", pose(func(g *poseGuards) { g.lease = false }))
	breaks(t, "the job as read", "I6", pose(func(g *poseGuards) { g.asRead = false }))
	breaks(t, "the fence", "I6", pose(func(g *poseGuards) { g.fence = false }))
	breaks(t, "whoever comes second answers", "I8", pose(func(g *poseGuards) { g.second = false }))
	breaks(t, "the message that comes back", "I8", pose(func(g *poseGuards) { g.comes = false }))
}
