package names

import (
	"fmt"
	"net/url"
	"strings"
)

// AppQuery is the parameter by which the app's address names an analysis.
const AppQuery = "analysis"

// CheckAppURL says what is wrong with an address of the app. Without one mails
// carry no link, which is no fault.
func CheckAppURL(app string) error {
	if app == "" {
		return nil
	}
	u, err := url.Parse(app)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.ContainsAny(app, " \t\r\n"):
		return fmt.Errorf("%q: it must be an https address", app)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fmt.Errorf("%q: it must hold neither a user nor a query nor a fragment", app)
	}
	return nil
}

// AppLink is the address at which the app shows an analysis, or "" without an
// address of the app. It holds nothing that opens a report by itself: the app
// signs the athlete in, and asks the API for links that are signed then.
func AppLink(app, analysisID string) string {
	if app == "" {
		return ""
	}
	return app + "?" + url.Values{AppQuery: {analysisID}}.Encode()
}
