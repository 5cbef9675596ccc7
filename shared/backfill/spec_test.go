package backfill

import (
	"fmt"
	"strings"
	"testing"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

func TestParseSpec(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"List", `{"effect":"tags","version":"tags-2","ids":["an-a"]}`, ""},
		{"Object", `{"effect":"tags","version":"tags-2","ids_key":"work/lists/x.json"}`, ""},
		{"Days", `{"effect":"tags","version":"tags-2","from":"2026-03-01","to":"2026-03-31"}`, ""},
		{"UnknownField", `{"effect":"tags","version":"v","id":["an-a"]}`, "OPERATIONS.md"},
		{"UnknownEffect", `{"effect":"mail","version":"v","ids":["an-a"]}`, `effect "mail": there are [tags]`},
		{"NoVersion", `{"effect":"tags","ids":["an-a"]}`, `version ""`},
		{"VersionThatIsAPath", `{"effect":"tags","version":"../x","ids":["an-a"]}`, "version"},
		{"TwoWays", `{"effect":"tags","version":"v","ids":["an-a"],"from":"2026-03-01","to":"2026-03-01"}`, "or from and to"},
		{"NoWay", `{"effect":"tags","version":"v"}`, "or from and to"},
		{"Backwards", `{"effect":"tags","version":"v","from":"2026-03-02","to":"2026-03-01"}`, "want two days"},
		{"TooLong", `{"effect":"tags","version":"v","from":"2020-03-02","to":"2026-03-01"}`, "at most 366"},
		{"BatchTooLarge", `{"effect":"tags","version":"v","ids":["an-a"],"batch_size":1001}`, "1 to 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSpec([]byte(c.input), []string{names.EffectTags})
			switch {
			case c.want == "" && (err != nil || s.BatchSize != names.MaxBatch):
				t.Errorf("%+v, %v", s, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || fault.NameOf(err) != fault.Permanent):
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestIDsAreSortedOnceAndBounded(t *testing.T) {
	got, err := Spec{BatchSize: 2}.clean([]string{"an-b", "an-a", "an-b"})
	if err != nil || fmt.Sprint(got) != "[an-a an-b]" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := (Spec{BatchSize: 2}).clean([]string{"an-a", "../secret"}); err == nil {
		t.Error("a path passed for an id")
	}
	many := make([]string, 2*names.MaxBatches+1)
	for i := range many {
		many[i] = fmt.Sprint("an-", i)
	}
	if _, err := (Spec{BatchSize: 2}).clean(many); err == nil || !strings.Contains(err.Error(), "split it") {
		t.Errorf("%v", err)
	}
}
