package report

import "testing"

func TestThreeClips(t *testing.T) {
	r := reporter(t)
	in := sample(t, "bowler", "variants/bowler_left_arm", "variants/bowler_portrait", "")
	build(t, r, in)
}
