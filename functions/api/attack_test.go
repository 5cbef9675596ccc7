package api_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// One key, used by two athletes and on two routes, names four requests: nobody
// is shown, or charged for, another's.
func TestKeysDoNotCollide(t *testing.T) {
	w := newWorld(t)
	w.grant(4)
	w.do(call{route: "POST /v1/operator/grants", sub: "op", groups: "[operators]", key: "k", body: `{"athlete_id":"ath-2","credits":1,"reason":"r"}`}).want(t, 201, "")
	mine := w.do(call{route: "POST /v1/analyses", key: "k", body: goodBody}).want(t, 201, "").str("analysis_id")
	theirs := w.do(call{route: "POST /v1/analyses", key: "k", sub: "ath-2", body: goodBody}).want(t, 201, "").str("analysis_id")
	w.bucket.put(names.ClipKey(mine, 0), "video")
	w.do(call{route: confirm, id: mine, key: "k"}).want(t, 202, "")
	w.failed(mine)
	again := w.do(call{route: rerun, id: mine, key: "k"}).want(t, 201, "").str("analysis_id")
	if mine == theirs || again == mine || again == theirs {
		t.Errorf("%s, %s, %s", mine, theirs, again)
	}
	// What a client could write to look like another's derivation is refused or
	// is another key.
	for _, forged := range []string{"rerun\n" + mine + "\nk", "k\x00", "\x00k"} {
		w.do(call{route: "POST /v1/analyses", key: forged, body: goodBody}).want(t, 400, "idempotency_key_invalid")
	}
	if id := w.do(call{route: "POST /v1/analyses", key: "rerun " + mine + " k", body: goodBody}).want(t, 201, "").str("analysis_id"); id == again {
		t.Error("a submission took a rerun's id")
	}
	// The same operator's key for another athlete is another request.
	w.do(call{route: "POST /v1/operator/grants", sub: "op", groups: "[operators]", key: "k", body: `{"athlete_id":"ath-1","credits":1,"reason":"r"}`}).want(t, 422, "idempotency_key_reused")
	// Another operator's is not.
	w.do(call{route: "POST /v1/operator/grants", sub: "op-2", groups: "[operators]", key: "k", body: `{"athlete_id":"ath-1","credits":1,"reason":"r"}`}).want(t, 201, "")
}

// A cursor says where to go on, never whose list it is.
func TestCursorsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.grant(6)
	var ids []string
	for i := range 6 {
		ids = append(ids, w.reserve(fmt.Sprint("k", i)))
	}
	for route, query := range map[string]map[string]string{"GET /v1/analyses": {"limit": "2"}, "GET /v1/credits": {"limit": "2"}, "GET /v1/me/export": {}} {
		r := w.do(call{route: route, query: query}).want(t, 200, "")
		if r.str("next_cursor") == "" {
			t.Fatalf("%s has no cursor: %s", route, r.Body)
		}
		stolen := w.do(call{route: route, sub: "ath-2", query: map[string]string{"cursor": r.str("next_cursor")}})
		if stolen.StatusCode != 200 && stolen.StatusCode != 400 {
			t.Errorf("%s with somebody else's cursor: %d %s", route, stolen.StatusCode, stolen.Body)
		}
		for _, id := range ids {
			if strings.Contains(stolen.Body, id) {
				t.Errorf("%s with somebody else's cursor shows %s", route, id)
			}
		}
		plain, err := base64.RawURLEncoding.DecodeString(r.str("next_cursor"))
		if err != nil || strings.Contains(string(plain), athlete) {
			t.Errorf("%s: the cursor is %s, %v", route, plain, err)
		}
	}
}

// Everything at once, by two athletes with few credits and everybody's ids:
// submissions, confirms, cancels, reruns, expiries and failures race. No ledger
// is ever below zero, each adds up, every end has its refund once, and nobody
// touched another's.
func TestRaces(t *testing.T) {
	w := newWorld(t)
	for _, who := range []string{"ath-1", "ath-2"} {
		w.do(call{route: "POST /v1/operator/grants", sub: "op", groups: "[operators]", key: who, body: `{"athlete_id":"` + who + `","credits":3,"reason":"r"}`}).want(t, 201, "")
	}
	later := time.Now().Add(names.ReservedDeadline + time.Hour)
	late := clocked(w.deps, func() time.Time { return later })
	var mu sync.Mutex
	owner := map[string]string{}
	var all []string
	pick := func(r *rand.Rand) string {
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 {
			return analysis.ID("ath-1", "0")
		}
		return all[r.IntN(len(all))]
	}
	made := func(who string, r reply) {
		if id := r.str("analysis_id"); r.StatusCode == 201 {
			mu.Lock()
			defer mu.Unlock()
			if old, seen := owner[id]; seen && old != who {
				t.Errorf("%s is %s's and %s's", id, old, who)
			} else if !seen {
				owner[id] = who
				all = append(all, id)
			}
		}
	}
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			who := []string{"ath-1", "ath-2"}[n%2]
			for range 30 {
				id := pick(r)
				c := call{sub: who, id: id}
				switch r.IntN(8) {
				case 0, 1:
					c.route, c.id, c.key, c.body = "POST /v1/analyses", "", fmt.Sprint(r.IntN(6)), goodBody
				case 2:
					w.bucket.put(names.ClipKey(id, 0), "video")
					c.route = confirm
				case 3:
					c.route = cancel
				case 4:
					c.route, c.key = rerun, fmt.Sprint(r.IntN(3))
				case 5:
					c.route = uploads
				case 6:
					_, _ = late.Ends.Expire(context.WithoutCancel(t.Context()), id, "reconcile") // it may have ended
					continue
				case 7:
					_, _ = w.deps.Ends.Fail(context.WithoutCancel(t.Context()), id, 1, "", "settle", reason.StageFailed)
					continue
				}
				got := w.send(w.fn, c.event())
				if got.StatusCode >= 500 && got.StatusCode != 503 {
					t.Errorf("%s: %d %s", c.route, got.StatusCode, got.Body)
				}
				if strings.HasSuffix(c.route, "analyses") || c.route == rerun {
					made(who, got)
				}
				mu.Lock()
				if whose := owner[id]; c.id != "" && whose != "" && whose != who && got.StatusCode != 404 {
					t.Errorf("%s of %s's by %s: %d %s", c.route, whose, who, got.StatusCode, got.Body)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(all) < 6 {
		t.Errorf("only %d analyses were made", len(all))
	}
	for _, who := range []string{"ath-1", "ath-2"} {
		l, err := w.deps.Ledger.Read(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		if l.Balance != l.Sum() || l.Balance < 0 {
			t.Errorf("%s: balance %d, entries add up to %d", who, l.Balance, l.Sum())
		}
		moves := map[string]map[credit.Kind]int{}
		for _, e := range l.Entries {
			if moves[e.AnalysisID] == nil {
				moves[e.AnalysisID] = map[credit.Kind]int{}
			}
			moves[e.AnalysisID][e.Kind]++
		}
		for id, whose := range owner {
			if whose != who {
				continue
			}
			row, err := w.deps.Life.Get(t.Context(), id)
			if err != nil || row.AthleteID != who {
				t.Fatalf("%+v, %v", row, err)
			}
			wantRefund := 0
			if row.Status.Ended() {
				wantRefund = 1
			}
			if m := moves[id]; m[credit.KindReserve] != 1 || m[credit.KindRefund] != wantRefund {
				t.Errorf("%s is %s (%s): entries %v", id, row.Status, row.Reason, m)
			}
			if row.Status == analysis.Expired && !row.QueuedAt.IsZero() {
				t.Errorf("%s expired after it was confirmed", id)
			}
		}
	}
	for name := range w.steps.started { // nothing that ended before its confirm was started
		id, _, _ := analysis.ParseExecutionName(name)
		row, err := w.deps.Life.Get(t.Context(), id)
		if err != nil || row.QueuedAt.IsZero() {
			t.Errorf("%s was started: %+v, %v", name, row, err)
		}
	}
}

// Events of the shop that are signed well, in any order and beside submissions:
// the balance never falls below zero, and a refund takes no more than is left.
func TestPaymentsRaceSubmissions(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			for i := range 6 {
				p := fmt.Sprint("p-", (n+i)%3)
				body := purchase(p, 2)
				switch (n + i) % 3 {
				case 1:
					body = strings.Replace(body, "completed", "refunded", 1)
				case 2:
					w.send(w.fn, call{route: "POST /v1/analyses", key: fmt.Sprintf("%d-%d", n, i), body: goodBody}.event())
					continue
				}
				if r := w.send(w.fn, paid(fmt.Sprintf("e-%d-%d", n, i), body, time.Now()).event()); r.StatusCode != 200 && r.StatusCode != 503 {
					t.Errorf("%s: %d %s", body, r.StatusCode, r.Body)
				}
			}
		})
	}
	wg.Wait()
	l, err := w.deps.Ledger.Read(t.Context(), athlete)
	if err != nil || l.Balance < 0 || l.Balance != l.Sum() {
		t.Fatalf("balance %d, entries add up to %d, %v", l.Balance, l.Sum(), err)
	}
	kinds := map[credit.Kind]int64{}
	for _, e := range l.Entries {
		kinds[e.Kind] += e.Credits
	}
	if kinds[credit.KindPurchase] > 6 || -kinds[credit.KindRevoke] > kinds[credit.KindPurchase] {
		t.Errorf("moved %v by 3 payments of 2", kinds)
	}
	// In the end every payment is refunded: what was not spent is taken.
	for i := range 3 {
		body := strings.Replace(purchase(fmt.Sprint("p-", i), 2), "completed", "refunded", 1)
		w.do(paid(fmt.Sprint("last", i), body, time.Now())).want(t, 200, "")
		w.do(paid(fmt.Sprint("very last", i), purchase(fmt.Sprint("p-", i), 2), time.Now())).want(t, 401, "signature_refused") // a space in an id
	}
	w.balance(0)
}
