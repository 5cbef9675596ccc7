package lambdaapi

import (
	"strings"

	"fastbowlinglab/shared/names"
)

// Account and Region are those of every ARN of the embedded cloud.
const (
	Account = "000000000000"
	Region  = "us-east-1"
)

// Latest is the qualifier of the unpublished program.
const Latest = "$LATEST"

const arnPrefix = "arn:aws:lambda:" + Region + ":" + Account + ":function:"

// ARN names a function, or one version of it when version is not empty.
func ARN(name, version string) string {
	if version == "" {
		return arnPrefix + name
	}
	return arnPrefix + name + ":" + version
}

// parse reads the forms in which the Invoke API takes a function's name: name,
// name:qualifier, account:function:name and the full ARN, each with or without
// a qualifier. A qualifier given beside the name must agree with one in it. The
// name that a deploy gives it, which begins with names.Prefix, is taken too, so
// that the operators' commands are the same here.
func parse(ref, qualifier string) (name, version string, err error) {
	rest := ref
	switch {
	case strings.HasPrefix(ref, arnPrefix):
		rest = ref[len(arnPrefix):]
	case strings.HasPrefix(ref, "arn:"):
		return "", "", notFound(ref)
	case strings.HasPrefix(ref, Account+":function:"):
		rest = ref[len(Account+":function:"):]
	}
	name, version, _ = strings.Cut(rest, ":")
	name = strings.TrimPrefix(name, names.Prefix)
	if name == "" || strings.Contains(version, ":") {
		return "", "", badParameter("%q is not a function name or ARN", ref)
	}
	if version != "" && qualifier != "" && version != qualifier {
		return "", "", badParameter("The derived qualifier from the function name does not match the specified qualifier.")
	}
	if version == "" {
		version = qualifier
	}
	if version == "" {
		version = Latest
	}
	return name, version, nil
}
