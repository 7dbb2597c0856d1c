# `make test` is the one command that has to pass before a change is merged. It installs the programs that the
# tests run (redis-server, PostgreSQL, MariaDB, tmux, git, a C compiler for -race) when they are missing and then takes every step
# that .ci/test lists. The other targets are parts of it, for the minutes in between.

.DEFAULT_GOAL := help
FUZZTIME ?= 5s
MUTANTS ?= new
SOAK ?= 10m
SEED ?= 1
BEHAVIOURS ?= all
TRIALS ?=

.PHONY: help test quick fuzz mutate behaviours bench soak-faults build fmt generate install-deps clean soak cluster sentinel valkey

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | while IFS='	' read -r t h; do printf '  make %-13s %s\n' "$$t" "$$h"; done

test: install-deps ## everything CI checks: formatting, vet, staticcheck, generated code, tests with -race, fuzzing
	@FUZZTIME=$(FUZZTIME) .ci/test

quick: install-deps ## formatting, vet and the tests, without -race and fuzzing
	@.ci/test gofmt vet unit

fuzz: ## every fuzz target for FUZZTIME (default 5s)
	@FUZZTIME=$(FUZZTIME) .ci/test fuzz

mutate: ## each write and guard of the engine's scripts not tried yet, and the survivors (MUTANTS=operands for the rest)
	nice -n 10 go test ./conveyor -run '^TestMutants$$' -mutants='$(MUTANTS)' -v -timeout 0

behaviours: ## every mistake of conveyor/COVERAGE.md (half an hour; BEHAVIOURS=regexp for some)
	nice -n 10 go test ./conveyor -run '^TestBehaviourMistakes$$' -behaviours='$(BEHAVIOURS)' -v -timeout 0

soak: install-deps ## ten thousand histories of the engine against its model, every small graph, large outboxes (takes hours)
	go test -count=1 -timeout=24h -run='^TestKilledRelays$$' ./conveyor/outbox -long
	go test -count=1 -timeout=24h ./internal/enginemodel -long
	go test -count=1 -timeout=24h -run='^(TestModel|TestGraphs)$$' ./conveyor -long -model.sequences=10000

# Tests of the engine on other stores than the redis-server and miniredis of `make test`, which itself takes what differs there: slots
# that move, failovers, and one test of each kind on a Cluster.
cluster: install-deps ## the engine's tests on a Cluster of three nodes (ten minutes)
	WAYBILL_TEST_ENGINE=cluster go test -count=1 -timeout=1h ./conveyor

sentinel: install-deps ## the engine's tests on a primary and a replica that Sentinels watch (ten minutes)
	WAYBILL_TEST_ENGINE=sentinel go test -count=1 -timeout=1h ./conveyor

valkey: ## the engine's tests on valkey-server, which has to be installed
	WAYBILL_TEST_ENGINE=valkey go test -count=1 -timeout=1h ./conveyor

bench: ## every figure of conveyor/bench/BENCHMARKS.md beside its peer, with ratios (an hour; terraform for some; TRIALS=regexp for a part)
	go -C conveyor/bench run ./speed -trials='$(TRIALS)'

soak-faults: install-deps ## faults in every durability setting for SOAK each (default 10m), from SEED, and conveyor/bench/FAULTS.md
	@mkdir -p conveyor/bench/runs
	@cd conveyor/bench && go build -o runs/soak ./soak && status=0; \
	for setting in always everysec none replica; do \
		nice -n 10 runs/soak -duration $(SOAK) -seed $(SEED) -durability $$setting -json runs/$$setting-$(SEED).json || status=1; \
	done; \
	nice -n 10 runs/soak -duration $(SOAK) -seed $(SEED) -store embedded -json runs/embedded-$(SEED).json || status=1; \
	rm runs/soak; go run ./soak publish runs/*.json && exit $$status

build: ## the waybill command, here, as one file that needs no libraries
	CGO_ENABLED=0 go build -trimpath -o waybill .

fmt: ## format the Go code
	gofmt -w .

generate: ## run every go:generate directive
	go generate ./...

install-deps: ## install what the tests need, or say what to install
	@.ci/install-deps

clean: ## remove what building, testing and the examples leave behind
	rm -rf waybill coverage.* examples/*/out examples/*/.waybill
