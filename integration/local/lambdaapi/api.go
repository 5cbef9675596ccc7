package lambdaapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// ServeHTTP is the Lambda API: Invoke, and the reads that show what is there
// (ListFunctions, GetFunction, GetFunctionConfiguration, ListVersionsByFunction).
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The name may be an ARN, sent with its colons escaped.
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/2015-03-31/functions")
	if !ok {
		writeError(w, unknownOperation(r))
		return
	}
	name, what, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	name, err := url.PathUnescape(name)
	if err != nil {
		writeError(w, badParameter("%q is not a function name or ARN", name))
		return
	}
	switch {
	case r.Method == http.MethodPost && what == "invocations":
		s.serveInvoke(w, r, name)
	case r.Method == http.MethodGet && name == "":
		s.serveList(w)
	case r.Method == http.MethodGet && what == "":
		s.serveGet(w, r, name, func(c configuration) any {
			return map[string]any{"Configuration": c, "Code": map[string]string{"RepositoryType": "local", "Location": c.location}}
		})
	case r.Method == http.MethodGet && what == "configuration":
		s.serveGet(w, r, name, func(c configuration) any { return c })
	case r.Method == http.MethodGet && what == "versions":
		s.serveVersions(w, name)
	default:
		writeError(w, unknownOperation(r))
	}
}

func (s *Service) serveInvoke(w http.ResponseWriter, r *http.Request, name string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequest))
	if err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			err = tooLarge(MaxRequest)
		} else {
			err = badParameter("read the payload: %v", err)
		}
		writeError(w, err)
		return
	}
	req := Request{Function: name, Qualifier: r.URL.Query().Get("Qualifier"), Payload: body, Tail: r.Header.Get("X-Amz-Log-Type") == "Tail"}
	switch kind := r.Header.Get("X-Amz-Invocation-Type"); kind {
	case "", "RequestResponse":
		s.serveCall(w, r, req)
	case "Event":
		id, err := s.InvokeEvent(req)
		if err != nil {
			writeError(w, err)
			return
		}
		w.Header().Set("X-Amzn-Requestid", id)
		w.WriteHeader(http.StatusAccepted)
	case "DryRun":
		if _, _, err := s.check(req, MaxRequest); err != nil {
			writeError(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		writeError(w, badParameter("%q is not an invocation type", kind))
	}
}

func (s *Service) serveCall(w http.ResponseWriter, r *http.Request, req Request) {
	res, err := s.Call(r.Context(), req)
	if err != nil {
		if r.Context().Err() == nil { // else nobody is there to read it
			writeError(w, err)
		}
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Amzn-Requestid", res.RequestID)
	h.Set("X-Amz-Executed-Version", res.Version)
	if res.FunctionError != "" {
		h.Set("X-Amz-Function-Error", res.FunctionError)
	}
	if req.Tail {
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(res.LogTail))
	}
	_, _ = w.Write(res.Payload)
}

// configuration is AWS's FunctionConfiguration as far as it means something here.
type configuration struct {
	FunctionName string
	FunctionArn  string
	Version      string
	Runtime      string
	Handler      string
	PackageType  string
	Timeout      int // seconds
	MemorySize   int // MB
	State        string
	location     string
}

func (s *Service) configuration(name, version string) configuration {
	f := s.functions[name]
	c := configuration{
		FunctionName: name, FunctionArn: ARN(name, qualifierOf(version)), Version: version,
		Runtime: "provided.al2023", Handler: "bootstrap", PackageType: "Zip",
		Timeout: int(f.Timeout.Seconds()), MemorySize: f.MemoryMB, State: "Active", location: s.binary(name),
	}
	if string(f.Package) == "image" {
		c.PackageType, c.Runtime, c.Handler = "Image", "", ""
	}
	return c
}

func (s *Service) serveList(w http.ResponseWriter) {
	list := []configuration{}
	for name := range s.functions {
		list = append(list, s.configuration(name, Latest))
	}
	sort.Slice(list, func(i, j int) bool { return list[i].FunctionName < list[j].FunctionName })
	writeJSON(w, http.StatusOK, map[string]any{"Functions": list})
}

func (s *Service) serveGet(w http.ResponseWriter, r *http.Request, ref string, shape func(configuration) any) {
	p, err := s.pool(ref, r.URL.Query().Get("Qualifier"))
	if err != nil {
		writeError(w, err)
		return
	}
	c := s.configuration(p.function.Name, p.version)
	c.location = p.program
	writeJSON(w, http.StatusOK, shape(c))
}

func (s *Service) serveVersions(w http.ResponseWriter, ref string) {
	name, _, err := parse(ref, "")
	if err == nil {
		if _, ok := s.functions[name]; !ok {
			err = notFound(ARN(name, ""))
		}
	}
	var ns []int
	if err == nil {
		if s.cfg.Versions == "" {
			ns = []int{1}
		} else if ns, err = s.published.list(name); err != nil {
			err = serviceError("list the versions of %s: %v", name, err)
		}
	}
	if err != nil {
		writeError(w, err)
		return
	}
	list := []configuration{s.configuration(name, Latest)}
	for _, n := range ns {
		list = append(list, s.configuration(name, strconv.Itoa(n)))
	}
	writeJSON(w, http.StatusOK, map[string]any{"Versions": list})
}

func unknownOperation(r *http.Request) error {
	return &Error{Status: http.StatusNotFound, Code: "UnknownOperationException",
		Message: "the embedded Lambda has no operation " + r.Method + " " + r.URL.Path}
}

// writeError answers in the shape that the SDKs read: the name in a header, the
// message in the body.
func writeError(w http.ResponseWriter, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Status: http.StatusInternalServerError, Code: "ServiceException", Message: err.Error()}
	}
	w.Header().Set("X-Amzn-Errortype", e.Code)
	body := map[string]string{"Type": "User", "Message": e.Message}
	if e.Status >= 500 {
		body["Type"] = "Service"
	}
	if e.Reason != "" {
		body["Reason"] = e.Reason
	}
	writeJSON(w, e.Status, body)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs no answer
}
