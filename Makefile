# operon: `make help` lists the targets.

GO            ?= go
CACHE         ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/operon-dev
LINT_VERSION  := v2.12.2
LINT          := $(CACHE)/golangci-lint-$(LINT_VERSION)
EXTERNAL      := github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0
CRDS          := github.com/cert-manager/cert-manager@v1.20.2 github.com/prometheus-operator/prometheus-operator@v0.91.0
# Modules, and what below them operon and controller-gen generate from in tests.
APIS          := $(EXTERNAL)//. sigs.k8s.io/cluster-api/api@v1.14.2//. sigs.k8s.io/gateway-api@v1.5.0//apis \
                 github.com/cert-manager/cert-manager@v1.20.2//pkg/apis sigs.k8s.io/kueue@v0.19.2//apis
# The other systems: nothing here depends on the processor.
SYSTEMS       := darwin windows

# Without the folder's path in what is compiled, Go's build cache serves other
# clones too, and the projects that tests make in ever new folders.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/operon
	$(GO) build -buildvcs=false -o bin/operon ./cmd/operon # as internal/testkit/operontest builds it: they share the file

.PHONY: install
install: ## Install operon into the Go bin folder
	$(GO) install ./cmd/operon

.PHONY: demo
demo: assets ## Scaffold an operator into demo/, build it and run it on an API server, with the time of each step
	PATH="$(CURDIR)/bin:$$PATH" bash testdata/demo.sh

.PHONY: test
# Tests link many programs, and a third of that time is for debug information.
test: assets modules warm ## Run all tests and print the slowest; the first run builds a Kubernetes API server
	KUBEBUILDER_ASSETS="$$(bin/operon envtest path)" GOFLAGS="$(GOFLAGS) -ldflags=-w" \
		$(GO) run ./internal/testkit/testprofile -o bin/test-profile.txt -vet=off -timeout 30m ./... # make lint vets

.PHONY: assets
assets: build ## Build the programs of a Kubernetes API server into the per-user store, unless they are there
	bin/operon envtest build

.PHONY: modules
modules: ## Fetch the modules that scaffolded projects and the peers need
	$(GO) mod download
	$(GO) -C testdata/golden/fleet mod download
	$(GO) -C testdata/golden/fleet mod tidy -diff # wants test modules that download leaves out
	$(GO) -C testdata/peers mod download
	$(GO) mod download $(EXTERNAL) # its types stand for those of other modules in the tests
	$(GO) mod download $(CRDS) # config/ makes objects of their kinds
	@set -e; for api in $(APIS); do \
		dir=$$($(GO) mod download -json "$${api%%//*}" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'); \
		echo "list $$api"; GOWORK=off $(GO) -C "$$dir" list -deps "./$${api##*//}/..." >/dev/null; \
	done

.PHONY: warm
# Tests side by side do not find what another one is about to compile.
warm: modules ## Compile and vet once what all scaffolded projects require
	$(GO) -C testdata/golden/fleet vet ./...

.PHONY: lint
lint: $(LINT) ## Lint and vet, and type-check for other systems
	$(LINT) run ./...
	$(GO) run ./internal/testkit/crosscheck $(SYSTEMS)

$(LINT):
	GOBIN=$(CACHE)/new $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(CACHE)/new/golangci-lint $@

.PHONY: golden
ifdef ONLY
golden: ## Rewrite all expected files, or one golden project: make golden ONLY=fleet
	@ls testdata/golden/$(ONLY).commands >/dev/null
	$(GO) test ./internal/acceptance/golden -run 'TestGolden$$/^$(ONLY)$$' -update
	@git status --short testdata/golden/$(ONLY)
else
golden: assets modules
	$(GO) test ./internal/acceptance/golden ./internal/acceptance/script ./internal/acceptance/readme \
		-run 'TestGolden$$|TestScript|TestReadme' -update
	$(GO) test ./internal/cli -run TestReference -update
endif

.PHONY: bench
bench: build modules ## Measure operon beside its peers, into docs/performance.md
	$(GO) run ./internal/bench $(BENCH)

.PHONY: prebuilt
prebuilt: ## Read anew what of the pinned modules is a part of the program
	OPERON_PREBUILT=write $(GO) test ./internal/gen -run TestPrebuilt

.PHONY: pins
pins: ## Refresh the scaffold's go.mod and go.sum from internal/pins
	OPERON_PINS=write $(GO) test ./plugins/golang -run TestPins
