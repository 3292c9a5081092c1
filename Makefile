# Every target is one line of its own work; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# One set of build flags everywhere, so that builds share the cache.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath

BIN := bin
# Without symbols, and without copies of the project's own functions at their
# calls: most of a run is spent in other code, and the program stays below 60 MB.
SMALL := -ldflags="-s -w" -gcflags=github.com/kubeseams/seams/...=-l
OUT := out
EXAMPLES := training-15k training-100k agents platform

.PHONY: help build examples test unit lint vet-cue verify binaries short-proof prove faults rig-test node-image e2e e2e-smoke e2e-full report-test bench fuzz golden generate clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build seams and its plugins for kubectl and kOps into bin/
	go build $(SMALL) -o $(BIN)/ ./cmd/seams ./plugins/kubectl-seams ./plugins/kops-seams

examples: build ## build, explain and render the examples for kubeadm and kOps below out/
	hack/render-examples.sh $(BIN)/seams $(OUT) $(EXAMPLES)

test: lint verify unit short-proof ## everything that must pass

unit: ## all Go tests: units, properties, goldens, CLI transcripts, cases
	go test ./...

lint: ## gofmt, go vet and cue fmt and vet
	hack/verify-format.sh
	go vet ./...
	go vet -tags rig ./e2e/rig/...
	go vet -tags kind ./e2e/kind/...

verify: ## generated files are what their generators make, and the program is small
	hack/verify-kops-schemas.sh
	hack/verify-ladder.sh
	hack/verify-size.sh

binaries: ## build upstream's programs into the user's cache: K8S=1.36.3, BINARIES="etcd kube-apiserver"
	K8S=$(K8S) ETCD=$(ETCD) KWOK=$(KWOK) hack/build-binaries.sh $(BINARIES)

# What a proof runs; the rest of binaries is for other tests.
PROOF_BINARIES := etcd etcdctl kube-apiserver kube-controller-manager kube-scheduler apiextensions-apiserver
# The rungs that the project publishes records of.
PROVEN := node/stock node/leases-store churn/stock churn/events-store churn/leases-store churn/aggregated-tier churn/aggregated-shards state/stock state/cold-uncached state/partitioned state/client-shards

short-proof: ## two rungs against stock as real processes, with a part of their load
	hack/build-binaries.sh $(PROOF_BINARIES)
	go test -tags rig -count=1 -timeout 30m -run TestShortProof ./e2e/rig/...

prove: build ## run the proofs in full and write their records, some 50 minutes on 2 cores
	hack/build-binaries.sh $(PROOF_BINARIES)
	$(BIN)/seams prove $(PROVEN) --evidence recipes/evidence

faults: ## stores and apiservers killed, wiped and filled under load; needs make binaries
	go test -tags rig -count=1 -timeout 60m -run 'Fault' -v ./e2e/rig/...

rig-test: ## control planes of rendered files as processes on loopback; needs make binaries
	go test -tags rig -count=1 -timeout 150m ./e2e/rig/...

report-test: build ## report pages in headless Chromium: pictures, overflow, accessibility
	hack/report-test.sh

node-image: ## make the kind node image of K8S once, out of Go modules and Debian packages; needs root
	hack/kind/docker.sh up
	hack/kind/node-image.sh

e2e-smoke: ## one rendered control plane in kind, its stores, settings and shards only
	hack/kind/e2e.sh -run 'TestSingle/^(pods_work|stores|settings_in_force|shards)$$'

e2e: ## one rendered control plane in kind, with Docker brought here where it is absent: K8S=1.36.3, KIND_NODE_IMAGE=...
	hack/kind/e2e.sh -run TestSingle

e2e-full: ## all tests in kind
	hack/kind/e2e.sh

bench: ## benchmarks, with the ratio to cue export of the same profile
	hack/bench.sh

fuzz: ## run every fuzz target for FUZZTIME (default 30s)
	hack/fuzz.sh $${FUZZTIME:-30s}

golden: ## rewrite golden files after a change of output that is meant
	hack/update-golden.sh

generate: ## regenerate kOps schemas, the evaluated ladder and the per-minor tables of flags and gates
	hack/update-kops-schemas.sh
	hack/update-ladder.sh
	go run ./hack/calibration
	hack/update-minors.sh

clean: ## remove what was built and rendered
	rm -rf $(BIN) $(OUT)
