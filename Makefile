# Every target says what it did. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

export GOFLAGS := -buildvcs=false
STATE     := .local
BIN       := $(STATE)/bin
DIST      := $(STATE)/dist
ZIPFNS    := api begin wake queuejob probe postjob awaitpose callback findings coaching render deliver reject settle notify feedback erase reconcile
LDFLAGS   := -s -w
TAGS      := lambda.norpc

CLIP ?= integration/samples/bowler.mp4
KEY  ?=
PROVIDER ?= rules
ARGS ?=

# quoted passes a variable to the shell as it was typed: quotes, spaces, dollars.
quoted = '$(subst ','\'',$(value $1))'

.PHONY: help setup setup-tests functions dist demo up test lint sizes bench clean

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

dist: ## build the zip functions as they are deployed (linux/arm64, static) into .local/dist
	@for f in $(ZIPFNS); do CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -ldflags='$(LDFLAGS)' -tags $(TAGS) -o $(DIST)/$$f/bootstrap ./functions/$$f/cmd; done
	@echo "built $(words $(ZIPFNS)) functions for arm64 in $(DIST)"

demo: functions ## the main job on the embedded cloud (CLIP=path for your own video, KEY=name for another submission, PROVIDER=bedrock for texts by the stand-in)
	@go build -o $(BIN)/demo ./integration/cmd/demo
	@$(BIN)/demo -clip $(call quoted,CLIP) -key $(call quoted,KEY) -provider $(call quoted,PROVIDER) -state $(STATE) $(ARGS)

up: functions ## the embedded cloud stays up; prints endpoint, API address, a token and example calls
	@go build -o $(BIN)/up ./integration/cmd/up
	@exec $(BIN)/up -state $(STATE) $(ARGS)

test: setup-tests functions dist ## set-up, then every test; what .ci/run calls
	@go vet ./...
	@go tool gotestsum --format pkgname-and-test-fails --hide-summary=output -- -timeout 20m ./...

lint: setup-tests ## gofmt, vet, staticcheck, shellcheck, asl-validator
	@test -z "$$(gofmt -l functions shared integration statemachine $$(test -d infra && echo infra))" || { gofmt -l functions shared integration statemachine infra; echo 'lint: run gofmt -w on these files'; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...
	@shellcheck integration/setup/*.sh .ci/run
	@for f in statemachine/*.asl.json; do node_modules/.bin/asl-validator --json-path $$f; done

sizes: dist ## size of each function's binary as deployed
	@du -b $(DIST)/*/bootstrap | awk '{printf "%-50s %6.1f MB\n", $$2, $$1/1e6}'

bench: functions ## the figures of the performance pages, one JSON line each
	@go test -run '^$$' -bench . -benchtime 1x ./... | grep -E '^\{' || true

clean: ## forget the embedded cloud's state and everything built
	@rm -rf $(STATE)
	@echo "removed $(STATE)"
