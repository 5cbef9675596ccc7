package infra

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2authorizers"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/names"
)

// Limits of the HTTP API.
const (
	apiRate        = 50  // requests a second, all callers together
	apiBurst       = 100 // beyond that, for a moment
	apiIntegration = 29  // seconds; API Gateway allows 30, and the function takes less
)

// API is the stack of the HTTP API and the functions behind its routes.
type API struct {
	awscdk.Stack
	HTTP      awsapigatewayv2.HttpApi
	Functions map[string]awslambda.Function
}

// NewAPI declares the stack.
func NewAPI(scope constructs.Construct, props *awscdk.StackProps, s Settings, d *Data, n *Network) *API {
	a := &API{Stack: awscdk.NewStack(scope, jsii.String("API"), props), Functions: map[string]awslambda.Function{}}
	a.http(s)
	m := maker{a.Stack, s, d.vars(), n, environment(s, d)}
	for _, fn := range names.Functions() {
		if behindRoute(fn.Name) {
			a.Functions[fn.Name] = m.function(fn)
		}
	}
	a.routes(d)
	awscdk.NewCfnOutput(a.Stack, jsii.String(names.APIOutput), &awscdk.CfnOutputProps{Value: a.HTTP.ApiEndpoint()})
	return a
}

// behindRoute tells whether a function serves a route of the HTTP API.
func behindRoute(function string) bool {
	for _, r := range names.Routes() {
		if r.Function == function {
			return true
		}
	}
	return false
}

func (a *API) http(s Settings) {
	methods := []awsapigatewayv2.CorsHttpMethod{}
	for _, m := range names.CORSMethods {
		methods = append(methods, awsapigatewayv2.CorsHttpMethod(m))
	}
	a.HTTP = awsapigatewayv2.NewHttpApi(a.Stack, jsii.String("Http"), &awsapigatewayv2.HttpApiProps{
		ApiName:            jsii.String(names.Prefix + "api"),
		CreateDefaultStage: jsii.Bool(false),
		CorsPreflight: &awsapigatewayv2.CorsPreflightOptions{
			AllowMethods: &methods, AllowHeaders: jsii.Strings(names.CORSHeaders...),
			AllowOrigins: jsii.Strings(s.WebOrigin), ExposeHeaders: jsii.Strings(names.CORSExpose...),
			MaxAge: duration(names.CORSMaxAge),
		},
	})
	// The fields hold no address, token or query: a log line names the route, not the athlete.
	format, err := json.Marshal(map[string]string{
		"time": "$context.requestTime", "request_id": "$context.requestId", "route": "$context.routeKey",
		"status": "$context.status", "latency_ms": "$context.responseLatency", "integration_ms": "$context.integrationLatency",
		"error": "$context.error.message", "authorizer_error": "$context.authorizer.error", "integration_error": "$context.integrationErrorMessage",
	})
	if err != nil {
		panic("infra: " + err.Error())
	}
	log := awslogs.NewLogGroup(a.Stack, jsii.String("Access"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String("/aws/apigateway/" + names.Prefix + "api"), Retention: logRetention,
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	stage := a.HTTP.AddStage(jsii.String("Stage"), &awsapigatewayv2.HttpStageOptions{
		StageName: jsii.String("$default"), AutoDeploy: jsii.Bool(true), DetailedMetricsEnabled: jsii.Bool(false), // each route would be charged as own metrics
		Throttle: &awsapigatewayv2.ThrottleSettings{RateLimit: jsii.Number(apiRate), BurstLimit: jsii.Number(apiBurst)},
	})
	stage.Node().DefaultChild().(awsapigatewayv2.CfnStage).SetAccessLogSettings(&awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
		DestinationArn: log.LogGroupArn(), Format: jsii.String(string(format)),
	})
}

func (a *API) routes(d *Data) {
	clients := []awscognito.IUserPoolClient{d.Client}
	if d.Page != nil {
		clients = append(clients, d.Page)
	}
	jwt := awsapigatewayv2authorizers.NewHttpUserPoolAuthorizer(jsii.String("Jwt"), d.Pool, &awsapigatewayv2authorizers.HttpUserPoolAuthorizerProps{
		UserPoolClients: &clients,
	})
	integrations := map[string]awsapigatewayv2integrations.HttpLambdaIntegration{}
	for _, r := range names.Routes() {
		if _, ok := integrations[r.Function]; !ok {
			fn, ok := a.Functions[r.Function]
			if !ok {
				panic("infra: route " + r.Key() + " leads to " + r.Function + ", which is no function")
			}
			integrations[r.Function] = awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String(logical(r.Function)), fn,
				&awsapigatewayv2integrations.HttpLambdaIntegrationProps{
					PayloadFormatVersion:   awsapigatewayv2.PayloadFormatVersion_VERSION_2_0(),
					Timeout:                awscdk.Duration_Seconds(jsii.Number(apiIntegration)),
					ScopePermissionToRoute: jsii.Bool(false),
				})
		}
		o := &awsapigatewayv2.AddRoutesOptions{
			Path: jsii.String(r.Path), Methods: &[]awsapigatewayv2.HttpMethod{awsapigatewayv2.HttpMethod(r.Method)},
			Integration: integrations[r.Function],
		}
		if r.Access != names.AccessPublic {
			o.Authorizer = jwt
		}
		for _, route := range *a.HTTP.AddRoutes(o) {
			if r.Access == names.AccessPublic {
				suppress(route, "AwsSolutions-APIG4", "a public route: the function itself checks what it is sent")
			}
		}
	}
}
