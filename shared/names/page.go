package names

import (
	"fmt"
	"net"
	"time"
)

// How people sign in on the web page: at the user pool's own pages, by OAuth 2.0's
// authorization code with PKCE. The user pool's client and the embedded cloud's
// stand-in are both set by this.
const (
	// PageScope is all that the page asks for: OpenID Connect's ID token, for its
	// nonce. The API looks at no scope; aws.cognito.signin.user.admin, by which a
	// token may change its user, is left out.
	PageScope = "openid"
	// PageAccess is how long an access token of the page is good: it cannot be
	// called back, the API checks it without asking anybody.
	PageAccess = 15 * time.Minute
	// PageRefresh is how long after signing in the page gets new ones.
	PageRefresh = 12 * time.Hour
	// PageRefreshGrace is how long a refresh token may be used again after it was
	// exchanged for its successor: the answer may have been lost.
	PageRefreshGrace = time.Minute
)

// Paths of the user pool's pages and of its OAuth 2.0 endpoints.
const (
	PathAuthorize = "/oauth2/authorize"
	PathToken     = "/oauth2/token"
	PathRevoke    = "/oauth2/revoke"
	PathLogout    = "/logout"
)

// Outputs of the CDK app: a Page as JSON without the API's address, and that.
const (
	PageOutput = "Page"
	APIOutput  = "ApiUrl"
)

// Page is what the web page is told of the deployment that it belongs to, as its
// config.json: the page itself holds no name or address. The CDK app prints it,
// the embedded cloud makes its own.
type Page struct {
	App       string `json:"app"`       // address of the page: signing in and out come back to exactly this
	API       string `json:"api"`       // base address of the HTTP API
	Storage   string `json:"storage"`   // origin of uploads and reports
	Issuer    string `json:"issuer"`    // who issues the user pool's tokens (iss)
	Client    string `json:"client"`    // the user pool's client for the page
	Scope     string `json:"scope"`     // what the page asks for
	Authorize string `json:"authorize"` // where people sign in
	Token     string `json:"token"`     // where a code, or a refresh token, becomes tokens
	Revoke    string `json:"revoke"`    // where a refresh token ends
	Logout    string `json:"logout"`    // where people sign out
}

// NewPage fills in what follows from signIn, the address of the user pool's pages.
func NewPage(app, api, storage, issuer, client, signIn string) Page {
	return Page{App: app, API: api, Storage: storage, Issuer: issuer, Client: client, Scope: PageScope,
		Authorize: signIn + PathAuthorize, Token: signIn + PathToken, Revoke: signIn + PathRevoke, Logout: signIn + PathLogout}
}

// Check names the first address that cannot be used. http is for this machine alone.
func (p Page) Check() error {
	for _, a := range []struct{ name, address string }{{"app", p.App}, {"api", p.API}, {"storage", p.Storage}, {"issuer", p.Issuer},
		{"authorize", p.Authorize}, {"token", p.Token}, {"revoke", p.Revoke}, {"logout", p.Logout}} {
		u, err := address(a.address)
		if err == nil && u.Scheme != "https" && !(u.Scheme == "http" && net.ParseIP(u.Hostname()).IsLoopback()) {
			err = fmt.Errorf("%q: it must be an https address", a.address)
		}
		if err != nil {
			return fmt.Errorf("the page's %s is %w", a.name, err)
		}
	}
	if p.Client == "" || p.Scope == "" {
		return fmt.Errorf("the page's client is %q and its scope %q: both are needed", p.Client, p.Scope)
	}
	return nil
}
