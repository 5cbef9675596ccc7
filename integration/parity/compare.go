package parity

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// A Shape is what both sides can say of one kind of thing: by its name, how it
// is made, in one canonical line.
type Shape map[string]string

// Differences lists what is not the same in two shapes, by name.
func Differences(synthesised, local Shape) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(synthesised)) {
		switch l, ok := local[name]; {
		case !ok:
			out = append(out, fmt.Sprintf("%s is synthesised, and the embedded cloud has none", name))
		case l != synthesised[name]:
			out = append(out, fmt.Sprintf("%s is synthesised as %s; the embedded cloud has %s", name, synthesised[name], l))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(local)) {
		if _, ok := synthesised[name]; !ok {
			out = append(out, fmt.Sprintf("%s is in the embedded cloud, and is not synthesised", name))
		}
	}
	return out
}

// Tables is the shape of the synthesised tables.
func (t Templates) Tables() Shape {
	out := Shape{}
	for _, r := range t.Of("AWS::DynamoDB::Table") {
		p := r.Properties
		line := "keys " + keys(p["KeySchema"])
		indexes := []string{}
		if l, ok := p["GlobalSecondaryIndexes"].([]any); ok {
			for _, ix := range l {
				m := ix.(map[string]any)
				indexes = append(indexes, fmt.Sprintf("%v(%s, %v)", m["IndexName"], keys(m["KeySchema"]), m["Projection"].(map[string]any)["ProjectionType"]))
			}
		}
		out[Text(p["TableName"])] = tableLine(line, indexes, text(p, "StreamSpecification", "StreamViewType"),
			text(p, "TimeToLiveSpecification", "AttributeName"), text(p, "BillingMode"))
	}
	return out
}

func tableLine(keys string, indexes []string, stream, ttl, billing string) string {
	sort.Strings(indexes)
	return fmt.Sprintf("%s; indexes %s; stream %s; time to live %s; %s", keys, strings.Join(indexes, " "), stream, ttl, billing)
}

func keys(v any) string {
	var out []string
	for _, k := range list(v) {
		m := k.(map[string]any)
		out = append(out, fmt.Sprintf("%v:%v", m["AttributeName"], m["KeyType"]))
	}
	return strings.Join(out, ",")
}

// text follows keys and gives what is there as text, "" for nothing.
func text(v any, path ...string) string {
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[p]
	}
	if v == nil {
		return ""
	}
	return Text(v)
}

// Queues is the shape of the synthesised queues. except names those that AWS
// alone has.
func (t Templates) Queues(except ...string) Shape {
	names := map[string]string{}
	all := t.Of("AWS::SQS::Queue")
	for at, r := range all {
		_, id, _ := strings.Cut(at, "/")
		names[id] = text(r.Properties, "QueueName")
	}
	out := Shape{}
	for _, r := range all {
		p := r.Properties
		name := text(p, "QueueName")
		if slices.Contains(except, name) {
			continue
		}
		dead, _, _ := strings.Cut(text(p, "RedrivePolicy", "deadLetterTargetArn"), ".")
		out[name] = queueLine(text(p, "MessageRetentionPeriod"), text(p, "VisibilityTimeout"), names[dead], text(p, "RedrivePolicy", "maxReceiveCount"))
	}
	return out
}

// queueLine leaves the default visibility out, which a template does not write.
func queueLine(retention, visibility, dead, receives string) string {
	if visibility == "30" {
		visibility = ""
	}
	return fmt.Sprintf("retention %s; visibility %s; dead letters %s after %s", number(retention), number(visibility), dead, receives)
}

// number writes a number without an exponent, as JSON has read it.
func number(s string) string {
	var f float64
	if _, err := fmt.Sscan(s, &f); err != nil {
		return s
	}
	return fmt.Sprint(int64(f))
}

// Routes is the shape of the synthesised routes: how each is guarded.
func (t Templates) Routes() Shape {
	out := Shape{}
	for _, r := range t.Of("AWS::ApiGatewayV2::Route") {
		out[text(r.Properties, "RouteKey")] = text(r.Properties, "AuthorizationType")
	}
	return out
}

// Machines is the shape of the synthesised state machines: the definition, in
// which each function is named and not addressed.
func (t Templates) Machines() Shape {
	out := Shape{}
	for at, r := range t.Of("AWS::StepFunctions::StateMachine") {
		stack, _, _ := strings.Cut(at, "/")
		def := text(r.Properties, "DefinitionString")
		subs, _ := r.Properties["DefinitionSubstitutions"].(map[string]any)
		for placeholder, ref := range subs {
			version, _ := ref.(map[string]any)["Ref"].(string)
			fn := t[stack][version].Properties["FunctionName"]
			id, _ := fn.(map[string]any)["Ref"].(string)
			def = strings.ReplaceAll(def, "${"+placeholder+"}", strings.TrimPrefix(text(t[stack][id].Properties, "FunctionName"), prefix))
		}
		out[text(r.Properties, "StateMachineName")] = def
	}
	return out
}

// Aliases is the shape of the synthesised aliases of state machines: which one
// each leads to.
func (t Templates) Aliases() Shape {
	out := Shape{}
	for at, r := range t.Of("AWS::StepFunctions::StateMachineAlias") {
		stack, _, _ := strings.Cut(at, "/")
		version, _, _ := strings.Cut(strings.Trim(text(r.Properties, "DeploymentPreference", "StateMachineVersionArn"), "${}"), ".")
		machine, _, _ := strings.Cut(strings.Trim(text(t[stack][version].Properties, "StateMachineArn"), "${}"), ".")
		out[text(r.Properties, "Name")] = text(t[stack][machine].Properties, "StateMachineName")
	}
	return out
}

// Functions is the shape of the synthesised functions: limits, and the
// environment. Values that are addresses are told by their variable alone.
func (t Templates) Functions(address func(variable string) bool) Shape {
	out := Shape{}
	for _, r := range t.Of("AWS::Lambda::Function") {
		vars, _ := r.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		values := map[string]string{}
		for k, v := range vars {
			values[k] = Text(v)
		}
		out[strings.TrimPrefix(text(r.Properties, "FunctionName"), prefix)] = functionLine(
			number(text(r.Properties, "Timeout")), number(text(r.Properties, "MemorySize")), values, address)
	}
	return out
}

func functionLine(timeout, memory string, env map[string]string, address func(string) bool) string {
	line := fmt.Sprintf("timeout %s; memory %s", timeout, memory)
	for _, k := range slices.Sorted(maps.Keys(env)) {
		line += "; " + k
		if !address(k) {
			line += "=" + env[k]
		}
	}
	return line
}

// Sources is the shape of what starts functions by itself.
func (t Templates) Sources() Shape {
	out := Shape{}
	fn := func(stack string, ref any) string {
		id, _, _ := strings.Cut(Text(ref), ".")
		id = strings.Trim(id, "${}")
		return strings.TrimPrefix(text(t[stack][id].Properties, "FunctionName"), prefix)
	}
	for at, r := range t.Of("AWS::Events::Rule") {
		stack, _, _ := strings.Cut(at, "/")
		name := fn(stack, r.Properties["Targets"].([]any)[0].(map[string]any)["Arn"])
		if rate := text(r.Properties, "ScheduleExpression"); rate != "" {
			out[name+" by schedule"] = rate
		} else {
			statuses := r.Properties["EventPattern"].(map[string]any)["detail"].(map[string]any)["status"]
			out[name+" by event"] = fmt.Sprint(statuses)
		}
	}
	for at, r := range t.Of("AWS::Lambda::EventSourceMapping") {
		stack, _, _ := strings.Cut(at, "/")
		out[fn(stack, r.Properties["FunctionName"])+" by stream"] = t.tableOf(Text(r.Properties["EventSourceArn"]))
	}
	for at, r := range t.Of("AWS::SNS::Subscription") {
		if stack, _, _ := strings.Cut(at, "/"); text(r.Properties, "Protocol") == "lambda" {
			topic, _, _ := strings.Cut(strings.Trim(text(r.Properties, "TopicArn"), "${}"), ".")
			out[fn(stack, r.Properties["Endpoint"])+" by topic"] = text(t[stack][topic].Properties, "TopicName")
		}
	}
	return out
}

// tableOf finds the table whose logical id an exported stream's name holds.
func (t Templates) tableOf(export string) string {
	for at, r := range t.Of("AWS::DynamoDB::Table") {
		if _, id, _ := strings.Cut(at, "/"); strings.Contains(export, id) {
			return text(r.Properties, "TableName")
		}
	}
	return export
}
