package local

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

// MailFrom is the sender of the embedded cloud's mails, a verified identity.
const MailFrom = "reports@fastbowlinglab.example"

// CallbackSecret is the name of the secret with the keys of signed callbacks.
const CallbackSecret = names.Prefix + "callback-keys"

// MachinePrefix is the ARN of state machines up to and with names.Prefix, and
// StateMachineARN that of the analysis.
const (
	MachinePrefix   = "arn:aws:states:" + Region + ":" + Account + ":stateMachine:" + names.Prefix
	StateMachineARN = MachinePrefix + names.MachineAnalysis
	LiveARN         = StateMachineARN + ":" + names.MachineAlias // what new analyses start by
)

// Place is where the things are that a program finds by its environment.
type Place struct {
	Endpoint string // URL of the endpoint
	APIURL   string // base URL of the HTTP API
	PoseURL  string // base URL of the pose workers' load balancer
	Root     string // the project's folder
	Fonts    string // folder of the report's fonts
}

// Values gives the value of every environment variable that shared/names
// declares.
func (p Place) Values() map[string]string {
	npm := filepath.Join(p.Root, "node_modules")
	v := map[string]string{
		names.EnvBucket:          names.Bucket,
		names.EnvStateMachineARN: LiveARN,
		names.EnvMachinePrefix:   MachinePrefix,
		names.EnvCluster:         names.Cluster,
		names.EnvPoseService:     names.PoseService,
		names.EnvMailFrom:        MailFrom,
		names.EnvPushTopic:       TopicARN(names.PushTopic),
		names.EnvPaymentsSecret:  names.PaymentsSecret,
		names.EnvAPIURL:          p.APIURL,
		names.EnvAppURL:          p.APIURL + web.Path,
		names.EnvParameters:      names.Parameters,
		names.EnvPoseURL:         p.PoseURL,
		names.EnvCallbackKeys:    CallbackSecret,
		names.EnvFonts:           p.Fonts,
		names.EnvModels:          filepath.Join(npm, "@mediapipe/pose"),
		names.EnvORT:             filepath.Join(npm, "onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1"),
		names.EnvPoseModel:       names.DefaultPoseModel,
		names.EnvIntake:          names.IntakeOpen,
		names.EnvRender:          names.FnRender,
	}
	for _, t := range names.Tables() {
		v[t.Env] = t.Name
	}
	for _, q := range names.Queues() {
		v[q.Env] = queueURL(p.Endpoint, q.Name)
	}
	return v
}

// TopicARN is the ARN of an SNS topic.
func TopicARN(name string) string { return "arn:aws:sns:" + Region + ":" + Account + ":" + name }

func queueURL(endpoint, name string) string { return endpoint + "/" + Account + "/" + name }

// Environment is the whole environment of a program beside what Lambda and ECS
// set themselves: the variables in need (of names.Functions or
// names.WorkerEnv), and how to reach the cloud. app is the program's name, which
// its SDK sends along, so that a fault can be aimed at it. Extra values add and
// override. A needed variable without a value is an error.
func Environment(app string, need []string, p Place, extra map[string]string) (map[string]string, error) {
	env := map[string]string{
		"AWS_ENDPOINT_URL":            p.Endpoint,
		"AWS_REGION":                  Region,
		"AWS_DEFAULT_REGION":          Region,
		"AWS_ACCESS_KEY_ID":           AccessKey,
		"AWS_SECRET_ACCESS_KEY":       SecretKey,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_SDK_UA_APP_ID":           app,
		"PATH":                        os.Getenv("PATH"),
		"TMPDIR":                      os.TempDir(),
		"TZ":                          "UTC",
	}
	values := p.Values()
	for _, k := range need {
		v, ok := values[k]
		if _, over := extra[k]; !ok && !over {
			return nil, fmt.Errorf("%s needs the environment variable %s, which the embedded cloud does not know", app, k)
		}
		env[k] = v
	}
	maps.Copy(env, extra)
	return env, nil
}

// functionEnv gives every function's environment, in the form that lambdaapi takes.
func (c Config) functionEnv(p Place) (func(names.Function) []string, error) {
	all := map[string][]string{}
	for _, f := range c.Functions {
		env, err := Environment(f.Name, f.Env, p, c.Env)
		if err != nil {
			return nil, err
		}
		for _, k := range slices.Sorted(maps.Keys(env)) {
			all[f.Name] = append(all[f.Name], k+"="+env[k])
		}
	}
	return func(f names.Function) []string { return all[f.Name] }, nil
}

func (c Config) lambdaConfig(p Place) (lambdaapi.Config, error) {
	env, err := c.functionEnv(p)
	if err != nil {
		return lambdaapi.Config{}, err
	}
	cfg := lambdaapi.Config{Functions: c.Functions, Binary: c.binary, Env: env, Logs: c.Logs, EventRetries: c.EventRetries}
	if cfg.Versions = c.Versions; cfg.Versions == "" && c.Dir != "" {
		cfg.Versions = filepath.Join(c.Dir, "versions")
	}
	return cfg, nil
}
