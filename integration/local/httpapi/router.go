package httpapi

import (
	"fmt"
	"net/url"
	"strings"

	"fastbowlinglab/shared/names"
)

// router finds routes. A literal segment wins over a parameter.
type router []route

type route struct {
	names.Route
	segments []string // a parameter is "{name}"
}

func newRouter(routes []names.Route) (router, error) {
	var r router
	seen := map[string]string{} // method and shape -> route key
	for _, nr := range routes {
		segs, ok := split(nr.Path)
		if !ok {
			return nil, fmt.Errorf("route %s: the path must begin with / and not end with it", nr.Key())
		}
		shape := nr.Method
		for _, s := range segs {
			p := isParam(s)
			if (strings.ContainsAny(s, "{}") && !p) || strings.Contains(s, "+") || s == "" {
				return nil, fmt.Errorf("route %s: segment %q is not supported", nr.Key(), s)
			}
			if p {
				s = "{}"
			}
			shape += "/" + s
		}
		if other, dup := seen[shape]; dup {
			return nil, fmt.Errorf("routes %s and %s match the same requests", other, nr.Key())
		}
		seen[shape] = nr.Key()
		r = append(r, route{nr, segs})
	}
	return r, nil
}

// find gives the route of a request and its path parameters. path is escaped.
func (r router) find(method, path string) (names.Route, map[string]string, bool) {
	segs, ok := split(path)
	if !ok {
		return names.Route{}, nil, false
	}
	for i, s := range segs {
		u, err := url.PathUnescape(s)
		if err != nil || u == "" {
			return names.Route{}, nil, false
		}
		segs[i] = u
	}
	var best *route
	for i := range r {
		if r[i].Method == method && r[i].matches(segs) && (best == nil || r[i].before(best)) {
			best = &r[i]
		}
	}
	if best == nil {
		return names.Route{}, nil, false
	}
	var params map[string]string
	for i, s := range best.segments {
		if isParam(s) {
			if params == nil {
				params = map[string]string{}
			}
			params[s[1:len(s)-1]] = segs[i]
		}
	}
	return best.Route, params, true
}

func (r *route) matches(segs []string) bool {
	if len(segs) != len(r.segments) {
		return false
	}
	for i, s := range r.segments {
		if !isParam(s) && s != segs[i] {
			return false
		}
	}
	return true
}

// before reports whether r is the more specific of two routes that both match.
func (r *route) before(o *route) bool {
	for i := range r.segments {
		if a, b := isParam(r.segments[i]), isParam(o.segments[i]); a != b {
			return b
		}
	}
	return false
}

func split(path string) ([]string, bool) {
	if !strings.HasPrefix(path, "/") {
		return nil, false
	}
	return strings.Split(path[1:], "/"), true
}

func isParam(s string) bool { return len(s) > 2 && s[0] == '{' && s[len(s)-1] == '}' }
