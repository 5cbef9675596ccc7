package media_test

import (
	"errors"
	"testing"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/reason"
)

func TestTogether(t *testing.T) {
	all := media.Together{Max: 60}
	if err := all.Fits(60); err != nil {
		t.Errorf("one clip of all that there may be: %v", err)
	}
	all.Add(50)
	if err := all.Fits(10); err != nil {
		t.Errorf("as many as are left: %v", err)
	}
	var r *media.Refusal
	if err := all.Fits(11); !errors.As(err, &r) || r.Code != reason.MediaTooLong {
		t.Errorf("one more than are left: %v", err)
	}
	if err := all.Fits(10); err != nil {
		t.Errorf("a clip that was refused took some: %v", err)
	}
}
