package infra

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/names"
)

func (d *Data) users(s Settings) {
	d.Pool = awscognito.NewUserPool(d.Stack, jsii.String("Users"), &awscognito.UserPoolProps{
		FeaturePlan:       awscognito.FeaturePlan_ESSENTIALS, // what a new pool has: managed login and changing refresh tokens need it
		SelfSignUpEnabled: jsii.Bool(true),
		SignInAliases:     &awscognito.SignInAliases{Email: jsii.Bool(true)},
		AutoVerify:        &awscognito.AutoVerifiedAttrs{Email: jsii.Bool(true)},
		// An address that was mistyped, or put in by whoever got hold of a token, is none
		// until its mailbox answered: till then people sign in and recover by the old one.
		KeepOriginal:    &awscognito.KeepOriginalAttrs{Email: jsii.Bool(true)},
		AccountRecovery: awscognito.AccountRecovery_EMAIL_ONLY,
		// Cognito's own sender stops after some dozens of mails a day: of sign-ups and forgotten passwords.
		Email:              awscognito.UserPoolEmail_WithSES(&awscognito.UserPoolSESOptions{FromEmail: jsii.String(s.MailFrom), SesRegion: d.Stack.Region()}),
		DeletionProtection: jsii.Bool(true),
		RemovalPolicy:      awscdk.RemovalPolicy_RETAIN,
		Mfa:                awscognito.Mfa_OPTIONAL,
		MfaSecondFactor:    &awscognito.MfaSecondFactor{Otp: jsii.Bool(true), Sms: jsii.Bool(false)},
		PasswordPolicy: &awscognito.PasswordPolicy{
			MinLength: jsii.Number(12), RequireDigits: jsii.Bool(true), RequireLowercase: jsii.Bool(true),
			RequireUppercase: jsii.Bool(true), RequireSymbols: jsii.Bool(true),
		},
	})
	suppress(d.Pool, "AwsSolutions-COG2", "athletes may turn a second factor on; operators are told to, by the runbook")
	suppress(d.Pool, "AwsSolutions-COG8", "the Plus plan costs by the user, and an account holds no means of payment")
	awscognito.NewCfnUserPoolGroup(d.Stack, jsii.String("Operators"), &awscognito.CfnUserPoolGroupProps{
		UserPoolId: d.Pool.UserPoolId(), GroupName: jsii.String(names.OperatorGroup),
		Description: jsii.String("May grant credits, read usage and start operator functions"),
	})
	d.Client = d.Pool.AddClient(jsii.String("App"), &awscognito.UserPoolClientOptions{
		AuthFlows:                  &awscognito.AuthFlow{UserSrp: jsii.Bool(true)},
		DisableOAuth:               jsii.Bool(true), // apps sign in by SRP; by default the CDK allows the implicit grant
		PreventUserExistenceErrors: jsii.Bool(true),
		EnableTokenRevocation:      jsii.Bool(true),
		AccessTokenValidity:        awscdk.Duration_Hours(jsii.Number(1)),
	})
	if s.AppURL != "" {
		d.page(s)
	}
	d.output("UserPool", d.Pool.UserPoolId())
	d.output("AppClient", d.Client.UserPoolClientId())
}

// page lets people sign in on the web page at appUrl: the user pool's own pages, and
// a client that gets tokens by an authorization code alone. The client is public: a
// page keeps no secret, PKCE stands for it.
func (d *Data) page(s Settings) {
	d.SignIn = d.Pool.AddDomain(jsii.String("SignIn"), &awscognito.UserPoolDomainOptions{
		CognitoDomain:       &awscognito.CognitoDomainOptions{DomainPrefix: sub(s.SignIn, nil)},
		ManagedLoginVersion: awscognito.ManagedLoginVersion_NEWER_MANAGED_LOGIN,
	})
	d.Page = d.Pool.AddClient(jsii.String("Page"), &awscognito.UserPoolClientOptions{
		GenerateSecret: jsii.Bool(false),
		OAuth: &awscognito.OAuthSettings{
			Flows:        &awscognito.OAuthFlows{AuthorizationCodeGrant: jsii.Bool(true)},
			Scopes:       &[]awscognito.OAuthScope{awscognito.OAuthScope_Custom(jsii.String(names.PageScope))},
			CallbackUrls: jsii.Strings(s.AppURL), LogoutUrls: jsii.Strings(s.AppURL),
			DefaultRedirectUri: jsii.String(s.AppURL),
		},
		SupportedIdentityProviders: &[]awscognito.UserPoolClientIdentityProvider{awscognito.UserPoolClientIdentityProvider_COGNITO()},
		// One must be named: without any, Cognito allows three, and one of them forbids
		// that refresh tokens change. This one proves the password without sending it.
		AuthFlows:                       &awscognito.AuthFlow{UserSrp: jsii.Bool(true)},
		PreventUserExistenceErrors:      jsii.Bool(true),
		EnableTokenRevocation:           jsii.Bool(true),
		AccessTokenValidity:             duration(names.PageAccess),
		IdTokenValidity:                 duration(names.PageAccess),
		RefreshTokenValidity:            duration(names.PageRefresh),
		RefreshTokenRotationGracePeriod: duration(names.PageRefreshGrace),
		// With the scope openid alone an ID token holds whatever the client may read.
		ReadAttributes: awscognito.NewClientAttributes().WithStandardAttributes(&awscognito.StandardAttributesMask{EmailVerified: jsii.Bool(true)}),
	})
	awscognito.NewCfnManagedLoginBranding(d.Stack, jsii.String("SignInStyle"), &awscognito.CfnManagedLoginBrandingProps{ // without one there is no page
		UserPoolId: d.Pool.UserPoolId(), ClientId: d.Page.UserPoolClientId(), UseCognitoProvidedValues: jsii.Bool(true),
	})
	d.output(names.PageOutput, d.told(s.AppURL))
}

// told is what the web page is told, as JSON, but for the API's address: the stack
// of the API is above this one, and prints it.
func (d *Data) told(app string) *string {
	p := names.NewPage(app, "", "https://${Bucket}.s3.${AWS::Region}.${AWS::URLSuffix}",
		"https://cognito-idp.${AWS::Region}.amazonaws.com/${Pool}", "${Client}", "https://${SignIn}.auth.${AWS::Region}.amazoncognito.com")
	b, err := json.Marshal(p)
	if err != nil {
		panic("infra: " + err.Error())
	}
	return sub(string(b), variables{"Bucket": d.Bucket.BucketName(), "Pool": d.Pool.UserPoolId(),
		"Client": d.Page.UserPoolClientId(), "SignIn": d.SignIn.DomainName()})
}
