// Package aitask runs the AI tasks of an analysis: precheck, findings, coaching.
//
// Each task has its own model setting, prompt, output schema and limits. A
// Runner makes the call of a task once for an analysis, whatever executions,
// retries and replays ask for it: through effect.Once, under the key
// model#<analysis>#<task>. The answer is stored where names.TextKey says, and
// the effect's result records the key that holds it and who wrote it, so that
// whoever comes second reuses the first answer.
//
// A provider's failure is never a verdict on the athlete: a throttle is
// Transient, a retired or missing model ModelUnavailable (naming the setting), a
// refusal or an empty, cut or wrongly shaped answer ModelNoAnswer (recorded, so
// that it is not paid for again), a call whose outcome nobody knows
// OutcomeUnknown.
//
// The provider "rules" is embedded: no network, no model, the same input gives
// the same bytes. Texts are signed with their author.
package aitask
