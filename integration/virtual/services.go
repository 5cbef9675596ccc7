package virtual

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// paramStore is a parameter store in memory.
type paramStore struct{ values map[string]string }

// ServeHTTP speaks the AWS JSON protocol of SSM: GetParameter, GetParameters.
func (s *paramStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name  string
		Names []string
		Path  string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		writeError(w, "ValidationException", err.Error())
		return
	}
	param := func(n string) map[string]any {
		return map[string]any{"Name": n, "Value": s.values[n], "Type": "String"}
	}
	switch _, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); op {
	case "GetParameter":
		if _, ok := s.values[in.Name]; !ok {
			writeError(w, "ParameterNotFound", in.Name)
			return
		}
		writeJSON(w, map[string]any{"Parameter": param(in.Name)})
	case "GetParameters":
		var found []any
		missing := []string{}
		for _, n := range in.Names {
			if _, ok := s.values[n]; ok {
				found = append(found, param(n))
			} else {
				missing = append(missing, n)
			}
		}
		writeJSON(w, map[string]any{"Parameters": found, "InvalidParameters": missing})
	case "GetParametersByPath":
		found := []any{}
		for _, n := range slices.Sorted(maps.Keys(s.values)) {
			if strings.HasPrefix(n, in.Path) {
				found = append(found, param(n))
			}
		}
		writeJSON(w, map[string]any{"Parameters": found})
	default:
		writeError(w, "UnknownOperationException", "virtual SSM has no "+op)
	}
}

// containerService is one service's desired count.
type containerService struct {
	desired int
	changed chan struct{} // closed and made anew when desired changes
}

// ServeHTTP speaks the AWS JSON protocol of ECS: UpdateService, DescribeServices.
func (e *containerService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Service      string
		DesiredCount *int
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		writeError(w, "InvalidParameterException", err.Error())
		return
	}
	switch _, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); op {
	case "UpdateService":
		if in.DesiredCount != nil && *in.DesiredCount != e.desired {
			e.desired = *in.DesiredCount
			close(e.changed)
			e.changed = make(chan struct{})
		}
		writeJSON(w, map[string]any{"service": e.describe()})
	case "DescribeServices":
		writeJSON(w, map[string]any{"services": []any{e.describe()}, "failures": []any{}})
	default:
		writeError(w, "UnsupportedFeatureException", "virtual ECS has no "+op)
	}
}

func (e *containerService) describe() map[string]any {
	return map[string]any{"desiredCount": e.desired, "runningCount": e.desired, "pendingCount": 0, "status": "ACTIVE"}
}

// Mail is one accepted mail.
type Mail struct {
	To   string
	Body string // the request as it came
}

// mailService accepts mails.
type mailService struct{ mails []Mail }

// ServeHTTP speaks SES v2's REST protocol: SendEmail.
func (s *mailService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v2/email/outbound-emails" {
		http.Error(w, `{"message":"virtual SES has only SendEmail"}`, http.StatusBadRequest)
		return
	}
	var in struct {
		Destination struct{ ToAddresses []string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, `{"message":"bad JSON"}`, http.StatusBadRequest)
		return
	}
	s.mails = append(s.mails, Mail{To: strings.Join(in.Destination.ToAddresses, ","), Body: string(body)})
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"MessageId":"mail-%d"}`, len(s.mails))
}
