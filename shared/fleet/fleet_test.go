package fleet_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
)

// service is an ECS service. onUpdate runs just before an update is carried out.
type service struct {
	mu       sync.Mutex
	desired  int32
	updates  []int32
	onUpdate func(n int32)
	missing  bool
	stale    bool  // it is said to have what it had before the last update
	before   int32 // which was that
}

func (s *service) DescribeServices(context.Context, *ecs.DescribeServicesInput, ...func(*ecs.Options)) (*ecs.DescribeServicesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing {
		return &ecs.DescribeServicesOutput{}, nil
	}
	n := s.desired
	if s.stale {
		n = s.before
	}
	return &ecs.DescribeServicesOutput{Services: []ecstypes.Service{{DesiredCount: n}}}, nil
}

func (s *service) UpdateService(_ context.Context, in *ecs.UpdateServiceInput, _ ...func(*ecs.Options)) (*ecs.UpdateServiceOutput, error) {
	if s.onUpdate != nil {
		s.onUpdate(*in.DesiredCount)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.desired = s.desired, *in.DesiredCount
	s.updates = append(s.updates, s.desired)
	return &ecs.UpdateServiceOutput{}, nil
}

func newFleet(t *testing.T, s *service) fleet.Fleet {
	return fleet.Fleet{DB: dynamotest.New(t), ECS: s, Effects: names.Effects.Name, Cluster: "c", Service: "s"}
}

func is(jobs int) fleet.Work { return func(context.Context) (int, error) { return jobs, nil } }

func TestWake(t *testing.T) {
	for _, tc := range []struct{ before, after int32 }{{0, 1}, {1, 1}, {4, 4}} {
		s := &service{desired: tc.before}
		f := newFleet(t, s)
		for want := int64(1); want <= 2; want++ {
			if seq, err := f.Wake(t.Context(), nil); err != nil || seq != want {
				t.Errorf("seq %d, %v; want %d", seq, err, want)
			}
		}
		if s.desired != tc.after {
			t.Errorf("fleet of %d became %d, want %d", tc.before, s.desired, tc.after)
		}
	}
	if _, err := newFleet(t, &service{missing: true}).Wake(t.Context(), nil); err == nil {
		t.Error("no error without a service")
	}
}

func (s *service) round(t *testing.T, f fleet.Fleet, w fleet.Work, want fleet.Action) {
	t.Helper()
	if got, err := f.Scale(t.Context(), w); err != nil || got != want {
		t.Errorf("round: %q, %v; want %q", got, err, want)
	}
}

func TestScaleIn(t *testing.T) {
	s := &service{desired: 1}
	f := newFleet(t, s)
	s.round(t, f, is(1), fleet.Kept)
	s.round(t, f, is(0), fleet.Idle) // once is not enough
	if _, err := f.Wake(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.round(t, f, is(0), fleet.Idle) // woken since: it counts from new
	s.round(t, f, is(1), fleet.Kept)
	s.round(t, f, is(0), fleet.Idle) // worked since: it counts from new
	s.round(t, f, is(0), fleet.Stopped)
	s.round(t, f, is(0), fleet.Kept)
	if s.desired != 0 || len(s.updates) != 1 {
		t.Errorf("desired %d after updates %v", s.desired, s.updates)
	}
	s.round(t, f, is(1), fleet.Started) // a wake that died before its update
	if s.desired != 1 {
		t.Errorf("desired %d, want 1", s.desired)
	}
}

// Out at once by backlog per worker, up to the limit; in after a whole round.
func TestScaleByBacklog(t *testing.T) {
	s := &service{desired: 1}
	f := newFleet(t, s)
	f.PerWorker, f.Max = 2, 4
	desired := func(want int32) {
		t.Helper()
		if s.desired != want {
			t.Errorf("desired %d, want %d", s.desired, want)
		}
	}
	s.round(t, f, is(2), fleet.Kept)
	s.round(t, f, is(3), fleet.Grown)
	desired(2)
	s.round(t, f, is(100), fleet.Grown)
	desired(4)
	s.round(t, f, is(7), fleet.Kept)
	s.round(t, f, is(2), fleet.Idle)
	if _, err := f.Wake(t.Context(), is(1)); err != nil { // some worker stays: no reason to wait
		t.Fatal(err)
	}
	desired(4)
	s.round(t, f, is(2), fleet.Shrunk)
	desired(1)
	if _, err := f.Wake(t.Context(), is(5)); err != nil {
		t.Fatal(err)
	}
	desired(3)
	s.round(t, f, is(1), fleet.Idle)
	n := 0
	s.round(t, f, func(context.Context) (int, error) { n++; return []int{1, 5}[n-1], nil }, fleet.Reopen)
	desired(3)
	if _, err := f.Wake(t.Context(), func(context.Context) (int, error) { return 0, errors.New("no answer") }); err != nil {
		t.Errorf("work that cannot be counted: %v", err)
	}
	desired(3)
	if got := f.Enough(); got != 8 {
		t.Errorf("enough is %d, want 8", got)
	}
}

// What an earlier fleet's last round found says nothing of the next fleet's workers.
func TestAFleetThatIsStartedAnewIsCountedAnew(t *testing.T) {
	s := &service{desired: 1}
	f := idle(t, s)
	s.round(t, f, is(0), fleet.Stopped)
	if _, err := f.Wake(t.Context(), is(3)); err != nil || s.desired != 3 {
		t.Fatalf("desired %d, %v", s.desired, err)
	}
	s.round(t, f, is(1), fleet.Idle)
	s.round(t, f, is(1), fleet.Shrunk)
}

// idle leaves a fleet that the next round will stop.
func idle(t *testing.T, s *service) fleet.Fleet {
	t.Helper()
	f := newFleet(t, s)
	s.round(t, f, is(0), fleet.Idle)
	return f
}

func TestScaleInRace(t *testing.T) {
	t.Run("a run wakes the fleet as it is being stopped", func(t *testing.T) {
		s := &service{desired: 1}
		f := idle(t, s)
		s.onUpdate = func(n int32) {
			if n == 0 { // it sees a worker and asks for none
				s.onUpdate = nil
				if _, err := f.Wake(context.Background(), nil); err != nil {
					t.Error(err)
				}
			}
		}
		s.round(t, f, is(0), fleet.Reopen)
		if s.desired != 1 {
			t.Errorf("desired %d: the run has no worker", s.desired)
		}
	})
	t.Run("work appears as it is being stopped", func(t *testing.T) {
		s := &service{desired: 1}
		f := idle(t, s)
		n := 0
		s.round(t, f, func(context.Context) (int, error) { n++; return n / 2, nil }, fleet.Reopen)
		if s.desired != 1 {
			t.Errorf("desired %d: the work has no worker", s.desired)
		}
	})
	t.Run("and the service is said to have the worker still", func(t *testing.T) {
		s := &service{desired: 1}
		f := idle(t, s)
		s.stale, s.before = true, 1
		n := 0
		s.round(t, f, func(context.Context) (int, error) { n++; return n / 2, nil }, fleet.Reopen)
		if s.desired != 1 {
			t.Errorf("desired %d after %v: the work has no worker", s.desired, s.updates)
		}
	})
	t.Run("a run comes just after it was stopped, and the service is said to have the worker still", func(t *testing.T) {
		s := &service{desired: 1}
		f := idle(t, s)
		s.round(t, f, is(0), fleet.Stopped)
		s.stale = true
		if _, err := f.Wake(t.Context(), nil); err != nil || s.desired != 1 {
			t.Errorf("desired %d after %v, %v: the run has no worker", s.desired, s.updates, err)
		}
		s.stale = false
		asked := len(s.updates)
		if _, err := f.Wake(t.Context(), nil); err != nil || len(s.updates) != asked {
			t.Errorf("%v, %v: a later wake asks for what is there", s.updates, err)
		}
	})
	t.Run("nobody can tell whether there is work", func(t *testing.T) {
		s := &service{desired: 1}
		f := idle(t, s)
		n := 0
		_, err := f.Scale(t.Context(), func(context.Context) (int, error) {
			if n++; n > 1 {
				return 0, errors.New("no answer")
			}
			return 0, nil
		})
		if err == nil || s.desired != 1 {
			t.Errorf("%v, desired %d; want an error and a worker", err, s.desired)
		}
	})
}
