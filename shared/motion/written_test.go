package motion_test

import (
	"math"
	"testing"

	"fastbowlinglab/shared/motion"
)

func TestNumber(t *testing.T) {
	for _, tc := range []struct {
		f    float64
		d    int
		want string
	}{
		{14.5, 0, "15"}, {13.5, 0, "14"}, {-14.5, 0, "−15"}, {-0.4, 0, "0"}, {0.115, 2, "0.12"}, {0.285, 2, "0.29"}, {-0.004, 2, "0.00"},
		{0.125, 2, "0.13"}, {0.575, 2, "0.58"}, {0.1145, 2, "0.11"}, {-100.8, 0, "−101"}, {1077.6, 0, "1078"}, {2, 2, "2.00"}, {math.Inf(-1), 0, "−Inf"},
	} {
		if got := motion.Number(tc.f, tc.d); got != tc.want {
			t.Errorf("%v with %d decimals is %s, want %s", tc.f, tc.d, got, tc.want)
		}
	}
}

func TestWritten(t *testing.T) {
	for want, m := range map[string]motion.Measure{
		"164 ± 15 degrees":                  {Value: 164.2, Band: 14.5, Unit: motion.Degrees},
		"−101 ± 24 degrees":                 {Value: -100.8, Band: 23.7, Unit: motion.Degrees},
		"0.12 ± 0.03 s":                     {Value: 0.115, Band: 0.031, Unit: motion.Seconds},
		"2.31 ± 0.34 body heights a second": {Value: 2.31, Band: 0.34, Unit: motion.HeightsSecond},
		"1.00 ± 0.50 furlongs":              {Value: 1, Band: .5, Unit: "furlongs"},
		"1078 ± 226 degrees a second":       {Value: 1077.6, Band: 225.5, Unit: motion.DegreesSecond},
		"":                                  {NotMeasured: "too dark", Unit: motion.Degrees},
	} {
		if got := m.Written(); got != want {
			t.Errorf("%+v is written %q, want %q", m, got, want)
		}
	}
}

// The instants have four decimals and the intervals three: of 1.4239 - 1.3094 one
// would make 0.11 and the other 0.12.
func TestIntervalsAreTheMeasuredOnes(t *testing.T) {
	ph := func(n motion.PhaseName, at float64) motion.Phase { return motion.Phase{Name: n, Time: at} }
	back, front, rel, after := ph(motion.BackFootContact, 1.0786), ph(motion.FrontFootContact, 1.3094), ph(motion.Release, 1.4239), ph(motion.FollowThrough, 1.5833)
	c := motion.Clip{Phases: []motion.Phase{back, front, rel, after}, Measures: []motion.Measure{
		{Name: motion.StrideTime, Value: .231}, {Name: motion.FrontToRelease, Value: .115}}}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("landing to release", c.Between(front, rel), .115)
	near("the stride", c.Between(back, front), .231)
	near("back foot to release", c.Between(back, rel), .346)
	near("release to follow-through", c.Between(rel, after), .1594)
	at, _ := c.FromRelease(front)
	near("landing", at, -.115)
	c.Measures[1] = motion.Measure{Name: motion.FrontToRelease, NotMeasured: "hidden"}
	near("landing to release, not measured", c.Between(front, rel), .1145)
	c.Phases = c.Phases[:2]
	if _, ok := c.FromRelease(front); ok {
		t.Error("there is a time from release without one")
	}
	near("the stride without release", c.Between(back, front), .231)
}
