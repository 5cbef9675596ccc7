package analysis

import "context"

// Confirmed counts the open analyses that were confirmed, and so may want a pose
// worker, up to enough.
func (s Store) Confirmed(ctx context.Context, enough int) (int, error) {
	n := 0
	err := s.Open(ctx, func(r Row) bool {
		if r.Status != Reserved {
			n++
		}
		return n < enough
	})
	return n, err
}
