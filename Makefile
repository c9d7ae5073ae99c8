# operon: `make help` lists the targets.

GO            ?= go
CACHE         ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/operon-dev
BUILD         := $(GO) build -buildvcs=false -o bin/operon ./cmd/operon
LINT_VERSION  := v2.12.2
LINT          := $(CACHE)/golangci-lint-$(LINT_VERSION)
LINT_COPY     := $(CACHE)/lint-copy
EXTERNAL      := github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0
# Modules whose CRDs tests install. The version of cert-manager is that of new projects.
CRDS          := github.com/cert-manager/cert-manager@$(shell sed -n 's/.*CertManager *= "\([^"]*\)".*/\1/p' internal/pins/pins.go) \
                 github.com/prometheus-operator/prometheus-operator@v0.91.0
# Operators that tests adopt (internal/testkit/operators).
OPERATORS     := sigs.k8s.io/lws@v0.7.0 github.com/kubeflow/training-operator@v1.8.1 github.com/pravega/zookeeper-operator@v0.2.15 \
                 github.com/fluxcd/kustomize-controller@v1.6.0
# Modules with API types, and the packages in them that tests generate from.
APIS          := $(EXTERNAL)//. sigs.k8s.io/cluster-api/api@v1.14.2//. sigs.k8s.io/gateway-api@v1.5.0//apis \
                 github.com/cert-manager/cert-manager@v1.20.2//pkg/apis sigs.k8s.io/kueue@v0.19.2//apis
# The packages whose tests take longest start first, so that none of them runs alone at the end.
LONG_TESTS    := $(addprefix ./internal/,acceptance/generate acceptance/script gen/incremental gen)
LONG_SERVER_TESTS := $(addprefix ./internal/,acceptance/olm acceptance/projects e2e acceptance/interop)
# The packages that compute in parallel.
RACE_TESTS    := $(addprefix ./internal/,scaffold/... gen/... hooks/engine/... hooks/hooktest/... chart/... acceptance/script)
# Other operating systems. No code depends on the processor.
SYSTEMS       := darwin windows

# A folder in memory that can have programs, if the machine has more than 16 GB of free memory. It always has the
# same name, on which cached results of tests depend.
MEMORY := $(shell awk '/^MemAvailable/ {kb = $$2} $$2 == "/dev/shm" && $$4 !~ /noexec/ {dir = $$2} \
	END {if (kb > 16e6 && dir != "") print dir "/operon-" uid}' uid=$$(id -u) /proc/meminfo /proc/mounts 2>/dev/null)

# With -trimpath, compiled packages do not contain the path of their folder, so the build
# cache also serves other clones and the projects that tests scaffold in new folders.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# Without cgo: the package net differs with it, so operon, its tests and the linter would each compile most packages
# again. The library of kustomize imports the package plugin, for which the linker keeps all code if it links with cgo.
build install demo demo-server test test-all test-extra record lint golden compat: export CGO_ENABLED := 0

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/operon
	$(BUILD)

.PHONY: install
install: ## Install operon into the Go bin folder
	$(GO) install ./cmd/operon

# The scripts build operon, so that they say what takes long, and how long it took.
DEMO = @PATH="$(CURDIR)/bin:$$PATH" bash testdata/demo/$(1).sh "$(CURDIR)/demo" $(BUILD)

.PHONY: demo
demo: ## Scaffold an operator in demo/, generate and build it, and time each step
	$(call DEMO,project)

.PHONY: demo-server
demo-server: ## Run the operator of make demo on an API server, which the first run builds
	$(call DEMO,server)

# Tests write and delete many small files. The disk makes scripts wait for half of their time, so the files are in
# memory if there is plenty. Tests also link many programs. Linking takes less time without symbols and debug
# information. Some tests wait for servers, so one package more than there are processors runs at a time. More
# of them would keep API servers running for longer, which takes CPU time.
define go-test
	@mkdir -p bin && find bin -mindepth 1 -maxdepth 1 -name 'operon-test-*' -mmin +120 -exec rm -rf {} + # of killed tests
	$(if $(MEMORY),mkdir -p $(MEMORY) && find $(MEMORY) -mindepth 1 -maxdepth 1 -mmin +120 -exec rm -rf {} + && TMPDIR=$(MEMORY)) \
		GOFLAGS="$(GOFLAGS) -ldflags=-s" \
		$(GO) run ./internal/testkit/testprofile -o bin/$@-profile.txt $(1) -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -vet=off
endef

.PHONY: test
test: modules ## Run go test ./..., which needs no server, and print the slowest tests
	$(call go-test,) -timeout 20m $(LONG_TESTS) ./... # make lint vets

.PHONY: test-all
# Go commands that run at the same time compile the same packages twice: some are compiled first.
test-all: build assets all-modules ## Run the tests with API servers, engines and peers, or some: make test-all ONLY=olm
	env -u CGO_ENABLED $(GO) -C testdata/golden/fleet vet ./... # as users do
	$(if $(ONLY),,$(GO) test -tags testall -timeout 60m -run TestPrograms ./internal/testkit/peertest)
	$(call go-test,-suite testall $(if $(ONLY),-only "$(ONLY)")) -timeout 45m $(LONG_SERVER_TESTS)

.PHONY: test-extra
test-extra: build assets all-modules ## Test with new random seeds, old libraries, new answers, go install and -race
	$(call go-test,-suite testextra $(if $(ONLY),-only "$(ONLY)")) -timeout 90m
	$(MAKE) record
	git status --short testdata/answers && test -z "$$(git status --porcelain testdata/answers)"
	CGO_ENABLED=1 $(GO) test -race -tags testall -timeout 60m $(RACE_TESTS)

.PHONY: record
# The packages with answers are the folders that have some. Without -count, the result of a run could come from the cache.
record: build assets all-modules ## Ask peers and servers for testdata/answers again: make record ONLY=internal/gen
	OPERON_RECORD=yes $(GO) test -count=1 -vet=off -timeout 60m $(if $(ONLY),./$(ONLY),\
		$(shell cd testdata/answers && find . -name '*.json' -exec dirname {} + | sort -u))

.PHONY: assets
assets: build ## Build a Kubernetes API server in the per-user store, unless it exists
	bin/operon envtest build

.PHONY: modules
modules: ## Download the modules that scaffolded projects and make test need
	$(GO) mod download
	$(GO) -C testdata/golden/fleet mod download
	$(GO) -C testdata/golden/fleet mod tidy -diff # also downloads the modules of tests
	$(GO) mod download github.com/pkg/errors@v0.9.1 \
		$$(sed -n 's|^\([^ ]*\) \(v[^ /]*\) h1:.*|\1@\2|p' templates/golang/certificates/go.sum) # --webhook-certs self
	$(GO) mod download $(EXTERNAL) github.com/evanphx/json-patch@v5.9.0+incompatible # external APIs in tests, and what cert-manager requires
	@set -e; for api in $(APIS); do \
		dir=$$($(GO) mod download -json "$${api%%//*}" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'); \
		echo "list $$api"; GOWORK=off $(GO) -C "$$dir" list -deps "./$${api##*//}/..." >/dev/null; \
	done

.PHONY: all-modules
all-modules: modules ## Download the modules that make test-all needs
	$(GO) -C testdata/golden/shops/runtime mod download # the engine of charts
	$(GO) -C testdata/peers mod download
	$(GO) -C testdata/peers/olm mod download
	$(GO) -C testdata/peers/operator-sdk mod download
	for dir in testdata/compat/controller-runtime-*; do \
		$(GO) -C testdata/compat/project mod tidy -diff -modfile=../$$(basename $$dir)/go.mod || exit; \
	done # the libraries of older projects
	$(GO) mod download $(CRDS) # config/ contains objects of their kinds
	$(GO) mod download $(OPERATORS)

.PHONY: lint lint-copy
lint: $(LINT) ## Run golangci-lint and type-check for other systems, or lint some packages: make lint ONLY=./plugins/...
	$(if $(shell command -v flock 2>/dev/null),flock $(LINT_COPY).lock) $(MAKE) --no-print-directory lint-copy
	$(if $(ONLY),,$(GO) run ./internal/testkit/crosscheck $(SYSTEMS))

# golangci-lint keeps results with the paths of the files. It reads a copy in one folder, so that the
# results of one clone serve the others. macOS lacks flock: there, only one clone may lint at a time.
lint-copy:
	rm -rf $(LINT_COPY) $(LINT_COPY).index
	GIT_INDEX_FILE=$(LINT_COPY).index git add -A
	GIT_INDEX_FILE=$(LINT_COPY).index git checkout-index -a --prefix=$(LINT_COPY)/
	cd $(LINT_COPY) && GOLANGCI_LINT_CACHE=$(CACHE)/lint $(LINT) run $(or $(ONLY),./...)

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
golden: assets all-modules
	$(GO) test ./internal/acceptance/golden ./internal/acceptance/script ./internal/acceptance/readme \
		-tags testall -run 'TestGolden$$|TestScript|TestServerScripts|TestTours' -update
	$(GO) test ./internal/cli -run TestReference -update
endif

.PHONY: bench
bench: build all-modules ## Measure operon and its peers, and write docs/performance.md
	$(GO) run ./internal/bench $(BENCH)

.PHONY: compat
compat: assets all-modules ## Test with all libraries that existing projects may have, and write docs/compatibility.md
	OPERON_COMPAT=write $(GO) test ./plugins/golang/internal/libraries -run TestPage
	OPERON_COMPAT=write $(GO) test -tags testextra,testall ./internal/acceptance/projects -run TestCompatibility -timeout 90m

.PHONY: scale
scale: build all-modules ## Measure operators with up to 10,000 objects: make scale SCALE="-only size/1000"
	$(GO) run ./internal/bench/scale $(SCALE)

.PHONY: corpus
corpus: build assets ## Adopt public operators, and write docs/existing-projects.md: make corpus CORPUS="-rows lws -columns adopt"
	$(GO) run ./internal/bench/adopt $(CORPUS)

.PHONY: prebuilt
prebuilt: ## Update the types of pinned modules that are compiled into operon
	OPERON_PREBUILT=write $(GO) test ./internal/gen/incremental -run TestPrebuilt

.PHONY: pins
pins: ## Update go.mod and go.sum of scaffolded projects from internal/pins
	OPERON_PINS=write $(GO) test ./plugins/golang -run TestPins
	OPERON_PINS=write $(GO) test ./plugins/golang -run TestCertificatePins
	OPERON_PINS=write $(GO) test ./plugins/helm -run TestPins
