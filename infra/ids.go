package infra

import "strings"

// logical turns a physical name into a construct id: fbl-pose-jobs -> PoseJobs.
func logical(name string) string {
	var b strings.Builder
	for _, w := range strings.Split(strings.TrimPrefix(name, "fbl-"), "-") {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}
