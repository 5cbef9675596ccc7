// Package bedrock stands in for Amazon Bedrock's Converse, by its wire protocol:
// it checks the signature of each request, reads it as strictly as AWS does, and
// answers with a schema-true, deterministic document for the tasks of this
// product, or as its script says: slowly, not at all, throttled, with any error
// in either of AWS's spellings, or with a recorded answer.
//
// Server is a plain http.Handler: behind the endpoint of integration/local, or
// called directly in virtual time, where a model that thinks for 300 s costs
// nothing. Its answers say that no model wrote them.
//
// What it cannot prove: how good a model's answers are, which models a region
// has, how many tokens a text has (it counts four bytes to a token), quotas.
package bedrock
