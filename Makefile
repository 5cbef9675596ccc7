# Every target says what it did. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

export GOFLAGS := -buildvcs=false
# Node 20 works, and says at every start that it is old.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 18,20,22
STATE     := .local
BIN       := $(STATE)/bin
DIST      := $(STATE)/dist
ZIPFNS    := api begin wake queuejob probe postjob awaitpose callback findings coaching render deliver reject settle notify feedback erase reconcile audit backfill nightly watch operator
LDFLAGS   := -s -w
TAGS      := lambda.norpc

CLIP ?= integration/samples/bowler.mp4
KEY  ?=
PROVIDER ?= rules
WORKER ?=
API ?=
TOKEN ?=
ARGS ?=

# quoted passes a variable to the shell as it was typed: quotes, spaces, dollars.
quoted = '$(subst ','\'',$(value $1))'

.PHONY: chaos stepfn-moto incidents help setup setup-tests functions dist image-context image synth cost page smoke demo up test test-at lint sizes bench clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup:
	@integration/setup/setup.sh

setup-tests:
	@integration/setup/setup.sh --tests

functions: setup ## build every function and the worker for this machine into .local/bin
	@mkdir -p $(BIN)
	@for f in $(ZIPFNS); do CGO_ENABLED=0 go build -trimpath -ldflags='$(LDFLAGS)' -tags $(TAGS) -o $(BIN)/$$f/bootstrap ./functions/$$f/cmd; done
	@CGO_ENABLED=1 go build -trimpath -ldflags='$(LDFLAGS)' -tags $(TAGS) -o $(BIN)/precheck/bootstrap ./functions/precheck/cmd
	@CGO_ENABLED=1 go build -trimpath -ldflags='$(LDFLAGS)' -o $(BIN)/poseworker ./functions/poseworker/cmd
	@integration/setup/fonts.sh $(STATE)/fonts

dist: setup ## build the zip functions as they are deployed (linux/arm64, static) into .local/dist
	@for f in $(ZIPFNS); do CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -ldflags='$(LDFLAGS)' -tags $(TAGS) -o $(DIST)/$$f/bootstrap ./functions/$$f/cmd; done
	@integration/setup/fonts.sh $(DIST)/render/fonts
	@echo "built $(words $(ZIPFNS)) functions for arm64 in $(DIST)"

image-context: setup ## lay out the folder of the worker's image (linux/amd64) in .local/image
	@mkdir -p $(STATE)/amd64
	@CGO_ENABLED=1 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags='$(LDFLAGS)' -tags $(TAGS) -o $(STATE)/amd64/precheck/bootstrap ./functions/precheck/cmd
	@CGO_ENABLED=1 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags='$(LDFLAGS)' -o $(STATE)/amd64/poseworker ./functions/poseworker/cmd
	@integration/setup/image-context.sh $(STATE)/amd64 $(STATE)/image
	@echo "laid out the image's folder $(STATE)/image, $$(du -sh $(STATE)/image | cut -f1)"

image: image-context ## build the worker's and the precheck's images here, without a Docker engine, into .local/images; prints sizes
	@integration/setup/image.sh $(STATE)/image $(STATE)/images

synth: dist image-context ## cdk synth into cdk.out without an account; cdk-nag and cfn-lint over the result
	@rm -rf cdk.out
	@node_modules/.bin/cdk synth --quiet --no-notices
	@integration/setup/cfn-lint.sh cdk.out/*.template.json
	@echo "synthesised $$(ls cdk.out/*.template.json | wc -l) stacks into cdk.out; cdk-nag found nothing unsuppressed"

smoke: ## the main job against a deployment (API=https://... TOKEN=access token of an athlete with a credit)
	@TOKEN=$(call quoted,TOKEN) go run ./integration/cmd/smoke -api $(call quoted,API) $(if $(CLIP),-clip $(call quoted,CLIP))

cost: ## dollars idle a month and for one analysis, itemised, from the templates in cdk.out
	@test -f cdk.out/manifest.json || $(MAKE) --no-print-directory synth
	@go run ./infra/cost/cmd -out cdk.out

OUTPUTS ?= outputs.json
page: ## the web page for a deployment into .local/page, from OUTPUTS of cdk deploy --outputs-file; prints the headers to serve it with
	@go run ./integration/cmd/page -outputs $(call quoted,OUTPUTS) -out $(STATE)/page

demo: functions $(if $(filter image,$(WORKER)),image) ## the main job on the embedded cloud (CLIP=path for your own video, KEY=name for another submission, PROVIDER=bedrock for texts by the stand-in, WORKER=image for worker and precheck in the images that ship)
	@go build -o $(BIN)/demo ./integration/cmd/demo
	@go build -o $(BIN)/inimage ./integration/cmd/inimage
	@$(BIN)/demo $(if $(filter image,$(WORKER)),-images $(STATE)/images) -clip $(call quoted,CLIP) -key $(call quoted,KEY) -provider $(call quoted,PROVIDER) -state $(STATE) $(ARGS)

up: functions ## the embedded cloud stays up; prints endpoint, API address, a token and example calls
	@go build -o $(BIN)/up ./integration/cmd/up
	@exec $(BIN)/up -state $(STATE) $(ARGS)

test: setup-tests functions dist ## set-up, then every test; what .ci/run calls
	@go vet ./...
	@go tool gotestsum --format pkgname-and-test-fails --hide-summary=output --jsonfile $(STATE)/tests.json -- -timeout 40m ./... 2>&1 | tee $(STATE)/tests.log
	@go run ./integration/cmd/skips $(STATE)/tests.json
	@tail -n 1 $(STATE)/tests.log

AT   ?=
PKGS ?= ./...

# Everything is built first, so that the tests begin at AT and not minutes after it;
# programs that live at the real time are put back at the end.
test-at: setup-tests ## the tests of PKGS with the clock of every Go program at AT=2027-02-28T23:58:00Z: over midnight, a month's end, the nightly hour
	@clock() { go run ./integration/cmd/clock -at $(call quoted,AT) -dir $(CURDIR)/$(STATE)/clock; }; flags="$(GOFLAGS) $$(clock)"; \
	trap '$(MAKE) --no-print-directory functions' EXIT; $(MAKE) --no-print-directory functions GOFLAGS="$$flags"; \
	GOFLAGS="$$flags" go test -count=1 -run '^$$' $(PKGS) >/dev/null; clock >/dev/null; \
	GOFLAGS="$$flags" go tool gotestsum --format pkgname-and-test-fails --hide-summary=output -- -count=1 -timeout 40m $(PKGS)

RUNS ?= 1000
SEED ?= 1
OFF  ?=
REAL ?=
FOR  ?= 0
GO_TEST_CHAOS := go test -count=1 -timeout 120m ./integration/faults -run 'TestChaos$$' -v

ifeq ($(REAL),)
chaos: setup ## fault campaign in virtual time (RUNS, SEED; FOR=40m ends it early; OFF=guard switches one off and must find a violation); with REAL=50 that many in real time with real processes; last line JSON
	@mkdir -p $(STATE); rm -f $(STATE)/chaos.json
	@$(GO_TEST_CHAOS) -args -chaos.runs=$(RUNS) -chaos.seed=$(SEED) -chaos.off='$(OFF)' -chaos.for=$(FOR) -chaos.out=$(CURDIR)/$(STATE)/chaos.json >$(STATE)/chaos.log 2>&1; code=$$?; \
	grep -E 'violated|replay:|suffice|^ {10}[a-z_]+ |no guard|panic|is off and' $(STATE)/chaos.log || true; \
	if [ -f $(STATE)/chaos.json ]; then cat $(STATE)/chaos.json; else tail -n 30 $(STATE)/chaos.log; fi; exit $$code
else
chaos: functions
	@rm -f $(STATE)/chaosreal.json
	@go test -count=1 -timeout 60m ./integration/chaosreal -run 'TestReal$$' -v -args -real.runs=$(REAL) -real.seed=$(SEED) -real.out=$(CURDIR)/$(STATE)/chaosreal.json >$(STATE)/chaosreal.log 2>&1; code=$$?; \
	grep -E 'violated|replay:|seed [0-9]+:|analyses have|panic' $(STATE)/chaosreal.log || true; \
	if [ -f $(STATE)/chaosreal.json ]; then cat $(STATE)/chaosreal.json; else tail -n 30 $(STATE)/chaosreal.log; fi; exit $$code
endif

MOTO := moto[server]==5.2.5

stepfn-moto: ## a second opinion on the Step Functions engine: moto's server, asked the same questions (installs it into .local/moto)
	@if [ ! -x $(STATE)/moto/bin/moto_server ]; then mkdir -p $(STATE) && python3 -m venv $(STATE)/moto && $(STATE)/moto/bin/pip install --quiet '$(MOTO)'; fi
	@go test -count=1 ./integration/stepfn -run 'TestMoto$$' -v | grep -vE '^=== '

incidents: setup ## incidents A, B and C with guards off and on, as a table and as JSON lines
	@mkdir -p $(STATE); rm -f $(STATE)/incidents.txt
	@go test -count=1 ./integration/incidents -run 'TestIncidents$$' -args -incidents.out=$(CURDIR)/$(STATE)/incidents.txt >$(STATE)/incidents.log 2>&1; code=$$?; \
	if [ -f $(STATE)/incidents.txt ]; then cat $(STATE)/incidents.txt; fi; [ $$code = 0 ] || tail -n 30 $(STATE)/incidents.log; exit $$code

lint: setup-tests ## gofmt, vet, staticcheck, shellcheck, asl-validator
	@test -z "$$(gofmt -l functions shared integration statemachine $$(test -d infra && echo infra))" || { gofmt -l functions shared integration statemachine infra; echo 'lint: run gofmt -w on these files'; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...
	@shellcheck integration/setup/*.sh functions/poseworker/*.sh .ci/run
	@for f in statemachine/*.asl.json; do node_modules/.bin/asl-validator --json-path $$f; done

sizes: dist ## size of each function's binary as deployed
	@du -b $(DIST)/*/bootstrap | awk '{printf "%-50s %6.1f MB\n", $$2, $$1/1e6}'

BENCHES = $(shell grep -rl --include='*_test.go' '^func Benchmark' functions shared integration | xargs -n1 dirname | sort -u | sed 's,^,./,')

bench: setup ## the figures of the performance pages, one JSON line each; a failure is shown and is the exit status
	@mkdir -p $(STATE)
	@go test -run '^$$' -bench . -benchtime 1x -timeout 60m $(BENCHES) 2>&1 | tee $(STATE)/bench.log | awk '/^(\{|FAIL|--- FAIL|panic)/ { print; fflush() }' || { code=$$?; tail -n 60 $(STATE)/bench.log; exit $$code; }

clean: ## forget the embedded cloud's state and everything built
	@rm -rf $(STATE)
	@echo "removed $(STATE)"
