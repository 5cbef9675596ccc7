package asl

import (
	"slices"
	"strings"
	"time"
)

// state reads one state; nil when its type is unknown.
func (p *parser) state(name string, n *node) *State {
	if n.fields == nil {
		return nil
	}
	s := &State{Name: name, Type: Type(n.need("Type"))}
	n.text("Comment")
	n.queryLanguage()
	read := map[Type]func(*node, *State){
		TaskType: p.task, ChoiceType: p.choice, WaitType: p.wait, PassType: p.pass,
		MapType: p.mapState, ParallelType: p.parallel, SucceedType: p.succeed, FailType: p.fail,
	}[s.Type]
	if read == nil {
		n.wrong("Type", "%q is no type of state", s.Type)
		return nil
	}
	read(n, s)
	n.done()
	return s
}

func (n *node) queryLanguage() {
	if q := n.text("QueryLanguage"); q != "" && q != "JSONPath" {
		n.wrong("QueryLanguage", "only JSONPath is supported")
	}
}

// flow reads Next or End.
func (n *node) flow(s *State) {
	end := n.boolean("End")
	s.Next = n.text("Next")
	switch {
	case end && n.has("Next"):
		n.wrong("Next", "a state has Next or End, not both")
	case !end && s.Next == "":
		n.wrong("Next", "is missing, and the state is not marked with End")
	}
}

// paths reads InputPath and OutputPath.
func (n *node) paths(s *State) {
	s.InputPath = n.selector("InputPath")
	s.OutputPath = n.selector("OutputPath")
}

func (n *node) selector(field string) Selector {
	v, ok := n.take(field)
	if !ok {
		return Selector{}
	}
	if v == nil {
		return Selector{Null: true}
	}
	return Selector{Path: n.path(field)}
}

// path reads an optional path.
func (n *node) path(field string) *Path {
	if !n.has(field) {
		n.known[field] = true
		return nil
	}
	p, err := ParsePath(n.text(field))
	if err != nil {
		n.wrong(field, "%v", err)
	}
	return p
}

// definite reads an optional path that gives exactly one value.
func (n *node) definite(field string) *Path {
	p := n.path(field)
	if p != nil && p.many {
		n.wrong(field, "the path must lead to one value: no wildcard, no slice")
	}
	return p
}

func (n *node) resultPath(field string) ResultPath {
	v, ok := n.take(field)
	if !ok {
		return ResultPath{}
	}
	if v == nil {
		return ResultPath{Null: true}
	}
	r, err := parseResultPath(n.text(field))
	if err != nil {
		n.wrong(field, "%v", err)
	}
	return r
}

// template reads an optional payload template, which must be an object.
func (n *node) template(field string) *Template {
	v, ok := n.take(field)
	if !ok {
		return nil
	}
	if _, isObject := v.(map[string]any); !isObject {
		n.wrong(field, "must be an object")
		return nil
	}
	return &Template{n.p.template(childPath(n.at, field), v)}
}

// results reads what Task, Map and Parallel have in common.
func (n *node) results(s *State) {
	s.ResultSelector = n.template("ResultSelector")
	s.ResultPath = n.resultPath("ResultPath")
	retries := n.objects("Retry")
	for i, r := range retries {
		s.Retry = append(s.Retry, r.retrier(i == len(retries)-1))
	}
	catches := n.objects("Catch")
	for i, c := range catches {
		s.Catch = append(s.Catch, Catcher{
			ErrorEquals: c.errorEquals(i == len(catches)-1),
			Next:        c.need("Next"),
			ResultPath:  c.resultPath("ResultPath"),
		})
		c.text("Comment")
		c.done()
	}
}

func (n *node) retrier(last bool) Retrier {
	r := Retrier{
		ErrorEquals: n.errorEquals(last),
		Interval:    time.Duration(n.integer("IntervalSeconds", 1, 1)) * time.Second,
		MaxAttempts: n.integer("MaxAttempts", 0, 3),
		BackoffRate: n.float("BackoffRate", 1, 2),
		MaxDelay:    n.seconds("MaxDelaySeconds", 1),
	}
	if r.MaxDelay > 0 && r.MaxDelay <= r.Interval {
		n.wrong("MaxDelaySeconds", "must be greater than IntervalSeconds")
	}
	switch j := n.text("JitterStrategy"); j {
	case "", "NONE":
	case "FULL":
		r.FullJitter = true
	default:
		n.wrong("JitterStrategy", "%q is neither FULL nor NONE", j)
	}
	n.text("Comment")
	n.done()
	return r
}

func (n *node) errorEquals(last bool) []string {
	v, _ := n.take("ErrorEquals")
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		name, ok := x.(string)
		if !ok {
			list = nil
			break
		}
		out = append(out, name)
		if strings.HasPrefix(name, "States.") && !slices.Contains(reserved, name) {
			n.wrong("ErrorEquals", "%q is no error name of Step Functions", name)
		}
	}
	if len(list) == 0 {
		n.wrong("ErrorEquals", "must be an array of error names that is not empty")
	}
	if slices.Contains(out, ErrAll) && (len(out) > 1 || !last) {
		n.wrong("ErrorEquals", "States.ALL must stand alone and in the last entry")
	}
	return out
}

func (p *parser) task(n *node, s *State) {
	s.Task = &Task{}
	switch r := n.need("Resource"); r {
	case ResourceInvoke:
	case ResourceToken:
		s.Task.WaitForToken = true
	case "":
	default:
		n.wrong("Resource", "%q is not supported: only %s and %s", r, ResourceInvoke, ResourceToken)
	}
	s.Task.Timeout = n.seconds("TimeoutSeconds", 1)
	s.Task.Heartbeat = n.seconds("HeartbeatSeconds", 1)
	if s.Task.Timeout > 0 && s.Task.Heartbeat >= s.Task.Timeout {
		n.wrong("HeartbeatSeconds", "must be smaller than TimeoutSeconds")
	}
	n.lambdaParameters()
	s.Parameters = n.template("Parameters")
	n.flow(s)
	n.paths(s)
	n.results(s)
}

// lambdaParameters checks the arguments of lambda:invoke.
func (n *node) lambdaParameters() {
	params := n.object("Parameters")
	if params == nil {
		return
	}
	if params.has("FunctionName") {
		params.need("FunctionName")
	} else if !params.has("FunctionName.$") {
		params.wrong("FunctionName", "is missing")
	}
	for _, known := range []string{"FunctionName.$", "Payload", "Payload.$"} {
		params.known[known] = true
	}
	params.done()
}

func (p *parser) wait(n *node, s *State) {
	s.Wait = &Wait{SecondsPath: n.definite("SecondsPath"), TimestampPath: n.definite("TimestampPath")}
	if n.has("Seconds") {
		v := n.integer("Seconds", 0, 0)
		s.Wait.Seconds = &v
	}
	n.known["Seconds"] = true
	if text := n.text("Timestamp"); n.has("Timestamp") {
		t, err := parseTimestamp(text)
		if err != nil {
			n.wrong("Timestamp", "%v", err)
		}
		s.Wait.Timestamp = &t
	}
	var given int
	for _, f := range []string{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"} {
		if n.has(f) {
			given++
		}
	}
	if given != 1 {
		n.p.report(n.at, "a Wait has exactly one of Seconds, SecondsPath, Timestamp, TimestampPath")
	}
	n.flow(s)
	n.paths(s)
}

func (p *parser) pass(n *node, s *State) {
	result, has := n.take("Result")
	s.Pass = &Pass{HasResult: has, Result: result}
	s.Parameters = n.template("Parameters")
	if has && s.Parameters != nil {
		n.wrong("Result", "Result and Parameters together are not supported")
	}
	s.ResultPath = n.resultPath("ResultPath")
	n.flow(s)
	n.paths(s)
}

func (p *parser) succeed(n *node, s *State) { n.paths(s) }

func (p *parser) fail(n *node, s *State) {
	s.Fail = &Fail{
		Error: n.text("Error"), Cause: n.text("Cause"),
		ErrorPath: n.failPath("Error"), CausePath: n.failPath("Cause"),
	}
}

// failPath reads ErrorPath or CausePath: a path or an intrinsic function.
func (n *node) failPath(field string) *Template {
	text := n.text(field + "Path")
	if !n.has(field + "Path") {
		return nil
	}
	if n.has(field) {
		n.wrong(field+"Path", "%s and %sPath exclude each other", field, field)
	}
	return &Template{n.p.dynamic(childPath(n.at, field+"Path"), field+"Path", text)}
}

func (p *parser) parallel(n *node, s *State) {
	s.Parallel = &Parallel{}
	for _, b := range n.objects("Branches") {
		s.Parallel.Branches = append(s.Parallel.Branches, p.machine(b))
		b.done()
	}
	if !n.has("Branches") {
		n.wrong("Branches", "is missing")
	}
	s.Parameters = n.template("Parameters")
	n.flow(s)
	n.paths(s)
	n.results(s)
}

func (p *parser) mapState(n *node, s *State) {
	s.Map = &Map{
		ItemsPath:      n.definite("ItemsPath"),
		ItemSelector:   n.template("ItemSelector"),
		MaxConcurrency: n.integer("MaxConcurrency", 0, 0),
	}
	if proc := n.object("ItemProcessor"); proc != nil {
		if proc.has("ProcessorConfig") {
			if c := proc.object("ProcessorConfig"); c != nil {
				if mode := c.text("Mode"); mode != "" && mode != "INLINE" {
					c.wrong("Mode", "%q is not supported: only INLINE", mode)
				}
				c.done()
			}
		}
		s.Map.Processor = p.machine(proc)
		proc.done()
	}
	n.flow(s)
	n.paths(s)
	n.results(s)
}
