# What people type. Each target first makes sure that the system has what it needs (scripts/setup).

SWIFT ?= swift

.PHONY: demo test test-slow test-release python-client lint check-api check-apple check-supabase bench check tsan setup clean

demo: setup                 ## Shows the package at work, against a backend of its own.
	$(SWIFT) build --product kizuna
	"$$($(SWIFT) build --show-bin-path 2>/dev/null)/kizuna" demo

test: setup                 ## All tests but the slow ones.
	$(SWIFT) test --skip SlowTests

test-slow: setup            ## The slow ones: suites whose names end in SlowTests, the Python client, a short benchmark.
	$(SWIFT) test --filter SlowTests --skip ThreeProcess
	$(SWIFT) test --skip-build --filter ThreeProcessSlowTests
	$(SWIFT) run --configuration release --scratch-path .build/bench kizuna-bench --quick
	@if [ -x scripts/python-client-test ]; then $(MAKE) --no-print-directory python-client; fi

test-release: setup         ## The tests of the client and its layers, as optimised code. Shares its build folder with the benchmark.
	$(SWIFT) test -c release --scratch-path .build/bench --skip SlowTests --skip LayeringTests --skip IntegrationTests --skip KizunaLocalTests

python-client: setup        ## The local backend, asked by the Supabase client for Python.
	scripts/python-client-test

check-api: setup            ## The public interface, compared with docs/api. To accept a difference: scripts/check-api --update
	$(SWIFT) build
	scripts/check-api

check-apple:                ## The Apple branches, type-checked against small stub modules.
	scripts/check-apple

check-supabase: setup       ## The trait SupabaseSwift, off and on, against a stand-in of the SDK.
	scripts/check-supabase

bench: setup                ## Figures of speed, as a table; release build. ARGS="--only write", "--json" …
	$(SWIFT) build -c release --product kizuna-bench --scratch-path .build/bench
	"$$($(SWIFT) build -c release --scratch-path .build/bench --show-bin-path 2>/dev/null)/kizuna-bench" $(ARGS)

lint:                       ## The house style, as far as a program can tell.
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift

check: lint test test-slow  ## What a change must pass.

tsan: setup                 ## The tests under the thread sanitizer, in a build folder of their own. FILTER="Scheduler" …
	scripts/tsan $(FILTER)

setup:
	@scripts/setup

clean:
	$(SWIFT) package clean
