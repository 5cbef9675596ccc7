// Package poseworker runs pose passes: it takes claim checks from the queue,
// claims their jobs, follows the bowler through every clip in chunks that it
// saves one by one, measures the action, and tells the analysis' state machine.
//
// It may be killed at any point, run twice on one job, be paused, or outlive the
// analysis; README.md tells the story of each. What it sees with is behind the
// interface Vision (package vision holds the real one), so that everything else
// is tested without a model.
package poseworker
