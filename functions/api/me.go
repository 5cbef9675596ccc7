package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
)

// meOut is what an athlete may know and choose about themselves. Erasure is
// there once they have asked to be deleted.
type meOut struct {
	AthleteID string           `json:"athlete_id"`
	Channels  athlete.Channels `json:"channels"`
	Version   int64            `json:"version"` // of the channels: a choice says which one it was made of
	Erasure   *erasureOut      `json:"erasure,omitempty"`
}

// erasureOut tells of a deletion. Removed is what has been removed so far.
type erasureOut struct {
	State       erasure.State   `json:"state"`
	RequestedAt time.Time       `json:"requested_at"`
	FinishedAt  *time.Time      `json:"finished_at,omitempty"`
	Removed     erasure.Removed `json:"removed"`
}

func erasureOf(e erasure.Erasure) *erasureOut {
	if e.State == erasure.None {
		return nil
	}
	return &erasureOut{e.State, e.RequestedAt, known(e.FinishedAt), e.Removed}
}

func (d Deps) me(ctx context.Context, r request) (answer, error) {
	c, version, err := d.People.Chosen(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	e, err := d.Erasures.Look(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusOK, Body: meOut{r.Athlete, c, version, erasureOf(e)}, ETag: true}, nil
}

// meIn is the body of PUT /v1/me; both channels must be told, and the version that
// the choice was made of. Apps of before there were versions send none: they may
// decline.
type meIn struct {
	Channels struct {
		Email *bool `json:"email"`
		Push  *bool `json:"push"`
	} `json:"channels"`
	Version *int64 `json:"version"`
}

func (d Deps) setMe(ctx context.Context, r request) (answer, error) {
	var in meIn
	if err := decodeBody(r.Body, &in); err != nil {
		return answer{}, err
	}
	if in.Channels.Email == nil || in.Channels.Push == nil {
		return answer{}, invalid("channels: email and push, each true or false")
	}
	if in.Version != nil && *in.Version < 0 {
		return answer{}, invalid("version: the one that GET /v1/me showed with the channels")
	}
	err := d.choose(ctx, r.Athlete, athlete.Channels{Email: *in.Channels.Email, Push: *in.Channels.Push}, in.Version)
	if err != nil {
		return answer{}, err
	}
	return d.me(ctx, r)
}

// choose stores a choice: whole, of the version that it was made of; without one
// only what it declines.
func (d Deps) choose(ctx context.Context, athleteID string, c athlete.Channels, seen *int64) error {
	p := problem{Status: http.StatusConflict, Code: "channels_changed", Title: "The channels were chosen anew meanwhile.",
		Detail: "Read them again, and choose from what they are now."}
	var err error
	if seen != nil {
		err = d.People.Choose(ctx, athleteID, c, *seen)
	} else {
		err = d.People.Decline(ctx, athleteID, c)
		p.Title, p.Detail = "What was declined is off, and nothing was turned on.", "To turn a channel on, send the version that GET /v1/me shows; an app that cannot needs an update."
	}
	if errors.Is(err, athlete.ErrChanged) {
		return p
	}
	return err
}

// eraseMe records that the athlete wants everything deleted. The work is done
// elsewhere; GET /v1/me tells how far it is.
func (d Deps) eraseMe(ctx context.Context, r request) (answer, error) {
	if err := noBody(r.Body); err != nil {
		return answer{}, err
	}
	e, err := d.Erasures.Ask(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusAccepted, Body: erasureOf(e)}, nil
}

// stillHere refuses to write anything new about somebody who is being, or has
// been, erased.
func (d Deps) stillHere(ctx context.Context, route, athleteID string) error {
	if accessOf(route) != names.AccessAthlete || route == "DELETE /v1/me" || route[:4] == "GET " {
		return nil
	}
	return d.notErased(ctx, athleteID)
}

// notErased refuses an athlete who has asked to be deleted.
func (d Deps) notErased(ctx context.Context, athleteID string) error {
	e, err := d.Erasures.Look(ctx, athleteID)
	if err != nil || e.State == erasure.None {
		return err
	}
	return problem{Status: http.StatusConflict, Code: "athlete_erased", Title: "This athlete has asked to be deleted.",
		More: map[string]any{"requested_at": e.RequestedAt}}
}
