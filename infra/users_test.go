package infra

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

func checkUsers(t reporter) {
	data := synth(t)["Data"]
	pool := data.one(t, "AWS::Cognito::UserPool")
	kept(t, "user pool", pool)
	check(t, "user pool", pool.Properties, `"ACTIVE"`, "DeletionProtection")
	check(t, "user pool", pool.Properties, `12`, "Policies", "PasswordPolicy", "MinimumLength")
	check(t, "user pool", pool.Properties, `"ESSENTIALS"`, "UserPoolTier")
	check(t, "user pool", pool.Properties, `["email"]`, "UserAttributeUpdateSettings", "AttributesRequireVerificationBeforeUpdate")
	check(t, "user pool", pool.Properties, `"DEVELOPER"`, "EmailConfiguration", "EmailSendingAccount")
	check(t, "user pool", pool.Properties, `"reports@example.com"`, "EmailConfiguration", "From")
	if source := fmt.Sprint(at(pool.Properties, "EmailConfiguration", "SourceArn")); !strings.Contains(source, ":ses:") || !strings.Contains(source, "identity/reports@example.com") {
		t.Errorf("the pool's mails are of identity %s", source)
	}
	check(t, "operators", data.one(t, "AWS::Cognito::UserPoolGroup").Properties, `"operators"`, "GroupName")
	for id, client := range data.of("AWS::Cognito::UserPoolClient") {
		check(t, id, client.Properties, `"ENABLED"`, "PreventUserExistenceErrors")
		check(t, id, client.Properties, `true`, "EnableTokenRevocation")
		if flows := fmt.Sprint(client.Properties["ExplicitAuthFlows"]); strings.Contains(flows, "PASSWORD") || strings.Contains(flows, "CUSTOM") || flows == "[]" {
			t.Errorf("%s signs in by %s", id, flows)
		}
		if secret := client.Properties["GenerateSecret"]; secret != nil && secret != false {
			t.Errorf("%s has a secret, which nobody could keep", id)
		}
	}
}

// clients gives the app's and the page's.
func clients(t reporter) (app, page map[string]any) {
	t.Helper()
	all := synth(t)["Data"].of("AWS::Cognito::UserPoolClient")
	for _, c := range all {
		if c.Properties["CallbackURLs"] == nil {
			app = c.Properties
		} else {
			page = c.Properties
		}
	}
	if len(all) != 2 || app == nil || page == nil {
		t.Fatalf("%d clients, want the app's and the page's", len(all))
	}
	return app, page
}

// checkSignIn: the page signs in by an authorization code alone, comes back to
// appUrl alone, and its tokens may do, say and last as little as is of use.
func checkSignIn(t reporter) {
	app, page := clients(t)
	check(t, "app", app, `["ALLOW_USER_SRP_AUTH","ALLOW_REFRESH_TOKEN_AUTH"]`, "ExplicitAuthFlows")
	check(t, "app", app, `false`, "AllowedOAuthFlowsUserPoolClient")
	check(t, "app", app, `null`, "AllowedOAuthFlows")
	for path, want := range map[string]string{"AllowedOAuthFlowsUserPoolClient": `true`, "AllowedOAuthFlows": `["code"]`, "AllowedOAuthScopes": `["openid"]`,
		"CallbackURLs": `["https://app.example.com/"]`, "LogoutURLs": `["https://app.example.com/"]`, "DefaultRedirectURI": `"https://app.example.com/"`,
		"SupportedIdentityProviders": `["COGNITO"]`, "ReadAttributes": `["email_verified"]`, "ExplicitAuthFlows": `["ALLOW_USER_SRP_AUTH"]`,
		"RefreshTokenRotation": fmt.Sprintf(`{"Feature":"ENABLED","RetryGracePeriodSeconds":%v}`, names.PageRefreshGrace.Seconds()),
		"AccessTokenValidity":  fmt.Sprint(names.PageAccess.Minutes()), "IdTokenValidity": fmt.Sprint(names.PageAccess.Minutes()), "RefreshTokenValidity": fmt.Sprint(names.PageRefresh.Minutes()),
		"TokenValidityUnits": `{"AccessToken":"minutes","IdToken":"minutes","RefreshToken":"minutes"}`} {
		check(t, "page", page, want, path)
	}
	data := synth(t)["Data"]
	domain := data.one(t, "AWS::Cognito::UserPoolDomain").Properties
	check(t, "sign-in", domain, `2`, "ManagedLoginVersion")
	check(t, "sign-in", domain, `{"Fn::Sub":"fbl-${AWS::AccountId}"}`, "Domain")
	style := data.one(t, "AWS::Cognito::ManagedLoginBranding").Properties
	check(t, "style", style, `true`, "UseCognitoProvidedValues")
	if leads := fmt.Sprint(at(style, "ClientId", "Ref")); data.Resources[leads].Properties["CallbackURLs"] == nil {
		t.Errorf("the pages' style is for %s, not for the page: managed login shows an error without one", leads)
	}
	audience, _ := at(synth(t)["API"].one(t, "AWS::ApiGatewayV2::Authorizer").Properties, "JwtConfiguration", "Audience").([]any)
	if len(audience) != 2 {
		t.Errorf("the API takes tokens of %v, want the app's and the page's", audience)
	}
}

// What the deploy prints for the page is, with the API's address, a Page that the
// page takes.
func TestPageOutput(t *testing.T) {
	var page names.Page
	if err := json.Unmarshal([]byte(filled(t, at(synth(t)["Data"].Outputs[names.PageOutput], "Value"))), &page); err != nil {
		t.Fatal(err)
	}
	if leads := fmt.Sprint(synth(t)["API"].Outputs[names.APIOutput]); page.API != "" || !strings.Contains(leads, "ApiEndpoint") {
		t.Errorf("the page's API is %q, and the API's output %s", page.API, leads)
	}
	page.API = "https://api.test"
	want := names.NewPage("https://app.example.com/", "https://api.test", "https://bucket.test.s3.us-east-1.amazonaws.com",
		"https://cognito-idp.us-east-1.amazonaws.com/us-east-1_pool", "client", "https://fbl-1.auth.us-east-1.amazoncognito.com")
	if err := page.Check(); err != nil || page != want {
		t.Errorf("the page is told %+v, want %+v: %v", page, want, err)
	}
}

// filled resolves an output's Fn::Sub as CloudFormation does.
func filled(t *testing.T, v any) string {
	t.Helper()
	text, _ := at(v, "Fn::Sub", 0).(string)
	values, _ := at(v, "Fn::Sub", 1).(map[string]any)
	known := map[string]string{"${AWS::Region}": "us-east-1", "${AWS::URLSuffix}": "amazonaws.com"}
	for name, value := range values {
		leads := fmt.Sprint(value)
		for part, is := range map[string]string{"Media": "bucket.test", "UsersPage": "client", "UsersSignIn": "fbl-1", "Users0": "us-east-1_pool"} {
			if strings.Contains(leads, part) {
				known["${"+name+"}"] = is
			}
		}
	}
	for name, is := range known {
		text = strings.ReplaceAll(text, name, is)
	}
	if text == "" || strings.Contains(text, "${") {
		t.Fatalf("%v is filled to %q", v, text)
	}
	return text
}

// Without an address of the page there is nothing to come back to: no page of the
// user pool's, no client for it.
func TestNoPageWithoutItsAddress(t *testing.T) {
	dir := t.TempDir()
	s, err := standIns(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.AppURL = ""
	if err := synthInto(filepath.Join(dir, "out"), s); err != nil {
		t.Fatal(err)
	}
	read := func(stack string) (tpl template) {
		b, err := os.ReadFile(filepath.Join(dir, "out", stack+".template.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &tpl); err != nil {
			t.Fatal(err)
		}
		return tpl
	}
	data, api := read("Data"), read("API")
	if n := len(data.of("AWS::Cognito::UserPoolDomain")) + len(data.of("AWS::Cognito::ManagedLoginBranding")); n != 0 {
		t.Errorf("%d resources of pages that lead nowhere", n)
	}
	for id, c := range data.of("AWS::Cognito::UserPoolClient") {
		if c.Properties["AllowedOAuthFlowsUserPoolClient"] != false {
			t.Errorf("%s signs in by OAuth", id)
		}
	}
	audience, _ := at(api.one(t, "AWS::ApiGatewayV2::Authorizer").Properties, "JwtConfiguration", "Audience").([]any)
	if _, ok := data.Outputs[names.PageOutput]; ok || len(audience) != 1 {
		t.Errorf("output %v; audience %v", ok, audience)
	}
}
