package main

import "regexp"

type leave struct {
	says    *regexp.Regexp
	because string
}

func may(says, because string) leave { return leave{regexp.MustCompile(says), because} }

// allowed are the skips that tell of no fault of set-up.
var allowed = []leave{
	may(`shared/(cases|footage)|cases/|field case|footage|^skipped: (media|footage)/|^s\d_\w+\.json is not here$`,
		"inputs that lie beside the project, on the team's machines"),
	may(`(?i)^the aws cli|^aws is not installed|^moto is not installed|chromium|fribidi|hb-shape`, "a second opinion by a tool that set-up does not install"),
	may(`cannot be built here`, "images need root, Debian and its packages"),
	may(`^(it takes|takes many|a campaign|no schedule was played)|run by Benchmark|^(records|writes) only with|^go test \./`, "runs only when asked for"),
	may(`too quick|no composite glyph|the same bytes again|^storage says|/proc`, "the case does not arise"),
}
