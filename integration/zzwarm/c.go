package zzwarm

import (
	_ "github.com/aws/aws-cdk-go/awscdk/v2"
	_ "github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	_ "github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	_ "github.com/cdklabs/cdk-nag-go/cdknag/v2"
)
