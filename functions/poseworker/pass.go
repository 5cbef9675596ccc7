package poseworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
)

// pass is one run over the clips of a claimed job.
type pass struct {
	d      Deps
	job    posejob.Job
	keeper *keeper
	log    *slog.Logger
	store  chunkStore
	clips  int
	all    *media.Together // clips measured so far
	start  time.Time
	stats  stats

	storage absence
}

func newPass(d Deps, job posejob.Job, k *keeper, log *slog.Logger) *pass {
	return &pass{d: d, job: job, keeper: k, log: log, start: time.Now(),
		all:   media.DefaultTogether(d.Vision.Model()),
		store: chunkStore{objects: d.Objects, bucket: d.Bucket, retry: d.Retry, log: log, read: k.progress.pulse}}
}

func (p *pass) seconds() float64 { return time.Since(p.start).Seconds() }

// run measures every clip and stores the result. It writes under its own fence
// alone, and nothing that it writes counts before the row says so.
func (p *pass) run(ctx context.Context) (names.VerdictOut, error) {
	var row analysis.Row
	err := p.patient(ctx, "read the analysis", func() (time.Time, error) {
		return time.Time{}, p.d.Retry.Do(ctx, func() (err error) {
			row, err = analysis.Get(ctx, p.d.Rows, p.d.Jobs.Analyses, p.job.AnalysisID)
			return err
		})
	})
	if err != nil {
		return names.VerdictOut{}, err
	}
	if len(row.Clips) == 0 || len(row.Clips) > names.MaxClips {
		return names.VerdictOut{}, fault.New(fault.Permanent, "the analysis has %d clips", len(row.Clips))
	}
	p.clips = len(row.Clips)
	ctx = media.WithPulse(ctx, p.keeper.progress.pulse)
	res := motion.Result{Version: motion.ResultVersion, Engine: p.d.Vision.Engine(), Model: p.d.Vision.Model()}
	for i, c := range row.Clips {
		clip, err := p.clip(ctx, i, c)
		if err != nil {
			return names.VerdictOut{}, fmt.Errorf("clip %d: %w", i, err)
		}
		res.Clips = append(res.Clips, clip)
	}
	out := verdict(res)
	if out.Verdict == names.VerdictReject {
		return out, nil
	}
	body, err := json.Marshal(res)
	if err != nil {
		return names.VerdictOut{}, fault.Wrap(fault.Permanent, err, "encode the result")
	}
	out.ResultKey = names.PoseResultKey(p.job.AnalysisID, p.job.Attempt, p.job.Fence)
	return out, p.put(ctx, out.ResultKey, "application/json", body)
}

// measure reads one clip; a refusal is a result.
func (p *pass) measure(ctx context.Context, i int, src string) (motion.Clip, error) {
	p.move(i, 0, "", "reading")
	info, err := p.d.Vision.Probe(ctx, src)
	if err != nil {
		return p.refused(i, err)
	}
	defer info.Release()
	if err := p.all.Fits(info); err != nil {
		return p.refused(i, err)
	}
	track, err := p.track(ctx, i, src, info)
	var refused *media.Refusal
	if errors.As(err, &refused) {
		p.all.Add(info, 0) // it may have been decoded to its end
	}
	if err != nil {
		return p.refused(i, err)
	}
	p.move(i, 1, "", "measuring")
	clip := p.d.Vision.Analyse(i, track, info)
	clip.Index = i
	if clip.Refused != "" {
		p.log.Info("clip refused", "clip", i, "reason", string(clip.Refused))
	} else if clip, err = p.stills(ctx, clip, src, info); err != nil {
		return clip, err
	}
	p.all.Add(info, len(track.Frames)) // now, and not before what may be tried again
	return clip, nil
}

// refused turns a refusal into a clip of the result; other errors stay errors.
func (p *pass) refused(i int, err error) (motion.Clip, error) {
	var r *media.Refusal
	if !errors.As(err, &r) {
		return motion.Clip{}, err
	}
	p.log.Info("clip refused", "clip", i, "reason", string(r.Code), "detail", r.Detail)
	return motion.Clip{Index: i, Refused: r.Code}, nil
}

// tracking is how much of a clip's time tracking takes; the rest is for its pictures.
const tracking = 0.97

// move reports progress: share is how much of clip i is tracked.
func (p *pass) move(i int, share float64, begun, doing string) posejob.Mark {
	f := (float64(i) + tracking*min(share, 1)) / float64(p.clips)
	return p.keeper.progress.move(f, begun, "clip %d of %d: %s", i+1, p.clips, doing)
}

// pictured reports that n of so many pictures of clip i are stored.
func (p *pass) pictured(i, n, all int) {
	f := (float64(i) + tracking + (1-tracking)*float64(n)/float64(all)) / float64(p.clips)
	p.keeper.progress.move(f, "", "clip %d of %d: key frame %d of %d", i+1, p.clips, n, all)
}

// lookedAt is how many pictures are decoded for each frame of a clip, the looks
// of the search for the bowler among them.
const lookedAt = 1.15

// expect makes the pictures of clip i count as progress between two chunks.
func (p *pass) expect(i int, info media.Info) {
	if info.Frames > 0 {
		all := tracking / float64(p.clips)
		p.keeper.progress.expect(all/(lookedAt*float64(info.Frames)), float64(i)/float64(p.clips)+0.99*all)
	}
}

// track follows the bowler through a clip, from the last checkpoint on.
func (p *pass) track(ctx context.Context, i int, src string, info media.Info) (pose.Track, error) {
	saved, err := p.store.load(ctx, p.job.Chunks(i))
	if err != nil {
		return pose.Track{}, err
	}
	var t tracked
	for _, c := range saved {
		if err := t.add(c); err != nil {
			return pose.Track{}, err
		}
	}
	p.stats.resumed.Add(int64(len(saved)))
	if t.last != nil && t.last.Last {
		return t.track, nil
	}
	p.move(i, share(t, info), posejob.CheckpointID(i, t.next()), "pose")
	p.expect(i, info)
	p.keeper.now()
	err = p.d.Vision.Track(ctx, src, info, t.last, func(c pose.Chunk) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := t.add(c); err != nil {
			return err
		}
		return p.save(ctx, i, c, t, info)
	})
	if err != nil {
		return pose.Track{}, err
	}
	if t.last == nil || !t.last.Last {
		return pose.Track{}, fault.New(fault.Permanent, "the tracker ended before its last chunk")
	}
	return t.track, nil
}

// save stores a chunk and then makes it count.
func (p *pass) save(ctx context.Context, i int, c pose.Chunk, t tracked, info media.Info) error {
	id := posejob.CheckpointID(i, c.Index)
	_, again := p.job.Checkpoints[id]
	if !again && len(p.job.Checkpoints) >= posejob.MaxCheckpoints {
		return fault.New(fault.Permanent, "more than %d chunks", posejob.MaxCheckpoints)
	}
	key := names.ChunkKey(p.job.AnalysisID, p.job.Attempt, p.job.Fence, i, c.Index)
	body, cp, err := packed(key, c)
	if err == nil {
		err = p.put(ctx, key, "application/gzip", body)
	}
	if err != nil {
		return err
	}
	begun := posejob.CheckpointID(i, c.Index+1)
	if c.Last {
		begun = ""
	}
	mark := p.move(i, share(t, info), begun, "pose")
	p.expect(i, info)
	saved := posejob.Saved{Clip: i, Chunk: c.Index, Checkpoint: cp}
	if again {
		saved.Redone = p.job.Redone + 1
	}
	job, err := p.d.Jobs.Checkpoint(ctx, p.job.Lease(), saved, mark)
	if errors.Is(err, posejob.ErrLost) {
		p.keeper.cancel(err)
	}
	if err != nil {
		return err
	}
	p.job.Checkpoints, p.job.Redone = job.Checkpoints, job.Redone
	p.stats.chunks.Add(1)
	p.stats.frames.Add(int64(len(c.Frames)))
	if p.d.RenewOnPass {
		p.keeper.beat(ctx)
	}
	return nil
}

// tracked is a clip's track so far.
type tracked struct {
	track pose.Track
	last  *pose.Chunk
}

func (t *tracked) next() int {
	if t.last == nil {
		return 0
	}
	return t.last.Index + 1
}

// add appends a chunk; anything but the next one would be measured wrongly.
func (t *tracked) add(c pose.Chunk) error {
	if c.Index != t.next() || (t.last != nil && t.last.Last) {
		return fault.New(fault.Permanent, "chunk %d came where %d was due", c.Index, t.next())
	}
	t.track.Width, t.track.Height, t.track.Mirrored, t.track.OtherRuns = c.Width, c.Height, c.Mirrored, c.OtherRuns
	t.track.Frames = append(t.track.Frames, c.Frames...)
	c.Frames = nil // held once
	t.last = &c
	return nil
}

func share(t tracked, info media.Info) float64 {
	if info.Frames <= 0 {
		return 0
	}
	return float64(len(t.track.Frames)) / float64(info.Frames)
}
