package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/shared/bedrock"
)

// Server is the stand-in. It is safe for concurrent use.
type Server struct {
	AccessKey, SecretKey, Region string                   // whose signatures it takes, and for where
	Script                       func(n int, c Call) *Act // what to do with the nth call, from 1; nil: answer
	PerSecond                    int                      // calls in any second before it throttles; 0: no limit

	mu    sync.Mutex
	calls []Call
}

// Call is one request that was signed and understood.
type Call struct {
	At      time.Time
	Model   string
	Tool    string // the tool that must be used, "" for none
	Request bedrock.Request
	Status  int   // of the answer
	In, Out int64 // tokens that it was charged
}

// Act is what becomes of a call. The zero value answers at once.
type Act struct {
	Delay   time.Duration   // before the answer, or the end of the connection
	Drop    bool            // the call is carried out, and its answer lost
	Status  int             // of an error; 0: none
	Code    string          // for example ThrottlingException
	Message string          // of the error
	InBody  bool            // the code stands in the body, else in the header
	Answer  json.RawMessage // a Converse answer as it is
}

// maxBody is AWS's limit of a request.
const maxBody = 25 << 20

var path = regexp.MustCompile(`^/model/([^/]+)/converse$`)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		refuse(w, Act{Status: 413, Code: "RequestEntityTooLargeException", Message: "The request is too large."})
		return
	}
	m := path.FindStringSubmatch(r.URL.EscapedPath())
	if m == nil || r.Method != http.MethodPost {
		refuse(w, Act{Status: 404, Code: "UnknownOperationException", Message: "The stand-in serves POST /model/{id}/converse."})
		return
	}
	if err := s.signed(r, body, time.Now()); err != nil {
		refuse(w, Act{Status: 403, Code: "InvalidSignatureException", Message: err.Error()})
		return
	}
	model, err := url.PathUnescape(m[1])
	if err != nil {
		refuse(w, Act{Status: 400, Code: "ValidationException", Message: "The provided model identifier is invalid."})
		return
	}
	c := Call{At: time.Now(), Model: model}
	if c.Request, err = decode(body); err != nil {
		refuse(w, Act{Status: 400, Code: "ValidationException", Message: err.Error()})
		return
	}
	if tc := c.Request.ToolConfig; tc != nil && tc.Choice != nil && tc.Choice.Tool != nil {
		c.Tool = tc.Choice.Tool.Name
	}
	s.serve(w, r, c)
}

// serve counts the call and does what its script says.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, c Call) {
	n, full := s.arrive(c)
	act := &Act{}
	if full {
		act = &Act{Status: 429, Code: "ThrottlingException", Message: "Too many requests, please wait before trying again."}
	} else if s.Script != nil {
		if a := s.Script(n, c); a != nil {
			act = a
		}
	}
	if act.Status == 0 && act.Answer == nil && !act.Drop {
		act = known(c.Model, act)
	}
	if act.Delay > 0 {
		t := time.NewTimer(act.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done(): // the caller has gone; the work would go on
		}
	}
	switch {
	case act.Drop:
		panic(http.ErrAbortHandler)
	case act.Status != 0:
		s.done(n, act.Status, 0, 0)
		refuse(w, *act)
	case act.Answer != nil:
		s.done(n, http.StatusOK, 0, 0)
		write(w, http.StatusOK, act.Answer)
	default:
		s.answer(w, n, c)
	}
}

func (s *Server) answer(w http.ResponseWriter, n int, c Call) {
	a, err := answer(c)
	if err != nil {
		s.done(n, http.StatusBadRequest, 0, 0)
		refuse(w, Act{Status: 400, Code: "ValidationException", Message: err.Error()})
		return
	}
	b, err := json.Marshal(a)
	if err != nil {
		s.done(n, http.StatusInternalServerError, 0, 0)
		refuse(w, Act{Status: 500, Code: "InternalServerException", Message: err.Error()})
		return
	}
	s.done(n, http.StatusOK, *a.Usage.Input, *a.Usage.Output)
	write(w, http.StatusOK, b)
}

// arrive records a call; full if its second has seen too many already.
func (s *Server) arrive(c Call) (n int, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	n = len(s.calls)
	if s.PerSecond > 0 {
		in := 0
		for i := n - 1; i >= 0 && c.At.Sub(s.calls[i].At) < time.Second; i-- {
			in++
		}
		full = in > s.PerSecond
	}
	return n, full
}

func (s *Server) done(n, status int, in, out int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[n-1].Status, s.calls[n-1].In, s.calls[n-1].Out = status, in, out
}

// Calls are the requests so far, in the order in which they came.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// The models that it knows: those of the price list, in a region's profile or
// not, and one that was retired.
var (
	served  = regexp.MustCompile(`^((us|eu|apac|global)\.)?(amazon\.nova-(micro|lite|pro)-v1:0|anthropic\.claude-[a-z0-9-]+(-v[0-9]+:[0-9]+)?)$`)
	retired = "amazon.titan-text-express-v1"
)

// known refuses models that it does not serve, as AWS does.
func known(model string, act *Act) *Act {
	switch {
	case served.MatchString(model):
		return act
	case strings.HasSuffix(model, retired):
		return &Act{Status: 404, Code: "ResourceNotFoundException", Message: "This model version has reached the end of its life. Please refer to the AWS documentation for more details."}
	}
	return &Act{Status: 400, Code: "ValidationException", Message: "The provided model identifier is invalid."}
}

// refuse answers with an error. The header carries more than the code, as AWS's
// does; a client must cut it off.
func refuse(w http.ResponseWriter, a Act) {
	body := map[string]string{"message": a.Message}
	if a.InBody {
		body["__type"] = "com.amazon.coral.service#" + a.Code
	} else {
		w.Header().Set("X-Amzn-ErrorType", a.Code+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	}
	b, err := json.Marshal(body)
	if err != nil {
		b = []byte(`{}`)
	}
	write(w, a.Status, b)
}

func write(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// Recorded makes an act of a stored exchange: an error {httpStatus,
// x-amzn-ErrorType, message}, or a Converse answer.
func Recorded(b []byte) (*Act, error) {
	var e struct {
		Status  int    `json:"httpStatus"`
		Type    string `json:"x-amzn-ErrorType"`
		Message string `json:"message"`
		Output  json.RawMessage
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("read a recorded answer: %w", err)
	}
	switch {
	case e.Status != 0:
		return &Act{Status: e.Status, Code: e.Type, Message: e.Message}, nil
	case e.Output == nil:
		return nil, errors.New("a recorded answer is neither an error nor Converse's")
	}
	return &Act{Answer: b}, nil
}
