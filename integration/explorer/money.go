package explorer

import "fmt"

// Statuses of the row in the money model.
const (
	absent = iota
	analysing
	ready
	failed
)

// Guards of the money model, each of which can be taken away.
type moneyGuards struct {
	endCondition bool // outcome.Store.row: compare-and-set on the status
	attempt      bool // outcome.atAttempt
	oneWrite     bool // txn.Write: end, refund and notice together
	reserveKey   bool // analysis.Store.Create: row and entry absent
	balance      bool // credit.Reserve: balance >= 1
	noticeClaim  bool // notice.Sender.claim
}

var allMoney = moneyGuards{true, true, true, true, true, true}

// Where an actor of the money model is.
const (
	mStart = iota
	mRead  // it has read the row, and goes on with what it read
	mHalf  // only without oneWrite: its end is written, its refund is not
	mDone
	mDead
)

// money is a state: two submissions of one key and one of another by an athlete
// with one credit, then a delivery, a failure by an earlier attempt, a failure
// and a cancel of the first, then two senders of its notice.
type money struct {
	row      [2]int // status of the analyses
	attempt  int    // of the first
	reserves [2]int
	refunds  [2]int
	balance  int
	notices  int // owed
	claimed  bool
	mails    int
	reopened bool // an end was overwritten
	byStale  bool // an earlier attempt wrote the end
	actor    [9]int
	crashes  int
}

// Actors of the money model.
const (
	clientA = iota // same key as clientB
	clientB
	clientC
	restart
	delivers
	settles // of attempt 2
	oldSettles
	sendsA
	sendsB
)

var moneyNames = [...]string{"client A", "client A again", "client C", "operator", "execution 2", "execution 2 settles", "execution 1 settles", "stream", "sweep"}

// Money is the model of reservation, end, refund and notice.
func Money(g moneyGuards) Model[money] {
	start := money{balance: 1, attempt: 1}
	return Model[money]{Init: start, Next: g.next, Safe: moneySafe, End: moneyEnd}
}

func (g moneyGuards) next(s money) []Step[money] {
	var out []Step[money]
	add := func(a int, fn string, to money) { out = append(out, Step[money]{moneyNames[a] + ": " + fn, to}) }
	for a := range s.actor {
		if s.actor[a] >= mDone {
			continue
		}
		switch a {
		case clientA, clientB:
			add(a, "analysis.Store.Create", g.create(s, a, 0))
		case clientC:
			add(a, "analysis.Store.Create", g.create(s, a, 1))
		case restart:
			if to := s; s.row[0] == analysing {
				to.attempt, to.actor[a] = 2, mDone
				add(a, "analysis.Store.raise", to)
			}
		case delivers:
			out = append(out, g.end(s, a, ready, 2, "outcome.Store.Deliver")...)
		case settles:
			out = append(out, g.end(s, a, failed, 2, "outcome.Store.Fail")...)
		case oldSettles:
			out = append(out, g.end(s, a, failed, 1, "outcome.Store.Fail")...)
		case sendsA, sendsB:
			out = append(out, g.send(s, a)...)
		}
		if s.actor[a] != mStart && s.crashes < 2 { // at the start a crash is the same as not coming
			to := s
			to.actor[a], to.crashes = mDead, s.crashes+1
			add(a, "crash", to)
		}
	}
	return out
}

func (g moneyGuards) create(s money, a, of int) money {
	s.actor[a] = mDone
	if g.reserveKey && s.row[of] != absent || g.balance && s.balance < 1 {
		return s // shown the row, or refused
	}
	if s.row[of] == absent {
		s.row[of] = analysing
	}
	s.balance--
	s.reserves[of]++
	return s
}

// end is outcome.Store.write: a read, then one transaction.
func (g moneyGuards) end(s money, a, status, attempt int, fn string) []Step[money] {
	name := moneyNames[a] + ": " + fn
	over := s.row[0] == ready || s.row[0] == failed
	switch s.actor[a] {
	case mStart:
		if s.row[0] == absent || attempt == 2 && s.attempt == 1 {
			return nil // its execution has not begun
		}
		to := s
		if to.actor[a] = mRead; over {
			to.actor[a] = mDone
		}
		return []Step[money]{{name + " reads", to}}
	case mRead:
		to := s
		if g.endCondition && over || g.attempt && attempt != s.attempt {
			to.actor[a] = mDone // concedes
			return []Step[money]{{name + " concedes", to}}
		}
		to.row[0], to.reopened, to.byStale = status, s.reopened || over, s.byStale || attempt != s.attempt
		if !g.oneWrite {
			to.actor[a] = mHalf
			return []Step[money]{{name + " writes the end", to}}
		}
		return []Step[money]{{name + " writes", pay(to, a, status)}}
	}
	return []Step[money]{{name + " writes refund and notice", pay(s, a, status)}}
}

func pay(s money, a, status int) money {
	s.actor[a] = mDone
	if status == failed {
		s.balance++
		s.refunds[0]++
	}
	s.notices++
	return s
}

// send is notice.Sender.Send: claim, then the mail; a crash in between leaves the
// notice unknown.
func (g moneyGuards) send(s money, a int) []Step[money] {
	to := s
	switch s.actor[a] {
	case mStart:
		if s.notices == 0 {
			return nil
		}
		to.actor[a] = mRead
		if g.noticeClaim && s.claimed {
			to.actor[a] = mDone
		}
		to.claimed = true
		return []Step[money]{{moneyNames[a] + ": notice.Sender.claim", to}}
	}
	to.actor[a], to.mails = mDone, s.mails+1
	return []Step[money]{{moneyNames[a] + ": SendEmail", to}}
}

func moneySafe(s money) error {
	switch {
	case s.reopened:
		return fmt.Errorf("I1: an end was overwritten")
	case s.byStale:
		return fmt.Errorf("I1: an earlier attempt wrote the end")
	case s.reserves[0] > 1 || s.refunds[0] > 1:
		return fmt.Errorf("I3: %d reservations, %d refunds", s.reserves[0], s.refunds[0])
	case s.balance < 0:
		return fmt.Errorf("I3: balance %d", s.balance)
	case s.balance != 1-s.reserves[0]-s.reserves[1]+s.refunds[0]:
		return fmt.Errorf("I3: the entries do not add up")
	case s.row[0] == ready && s.refunds[0] != 0, s.row[0] == failed && s.refunds[0] != 1:
		return fmt.Errorf("I2: status %d with %d refunds", s.row[0], s.refunds[0])
	case s.mails > 1:
		return fmt.Errorf("I4: %d mails", s.mails)
	case s.mails > 0 && s.row[0] != ready && s.row[0] != failed:
		return fmt.Errorf("I4: a mail before the end")
	}
	return nil
}

func moneyEnd(s money) error {
	if s.row[0] == analysing && s.actor[delivers] == mDone {
		return fmt.Errorf("I8: delivered by its own execution, and without an end")
	}
	return nil
}
