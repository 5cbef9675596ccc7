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
	u, err := address(app)
	if err == nil && u.Scheme != "https" {
		err = fmt.Errorf("%q: it must be an https address", app)
	}
	return err
}

// address reads an address that mails and a page's security policy hold, and refuses
// what could say more there than an address.
func address(a string) (*url.URL, error) {
	u, err := url.Parse(a)
	switch {
	case err != nil || u.Hostname() == "" || strings.ContainsAny(a, " \t\r\n;,'\"<>*{}"):
		return nil, fmt.Errorf("%q: it must be an https address", a)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("%q: it must hold neither a user nor a query nor a fragment", a)
	}
	return u, nil
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
