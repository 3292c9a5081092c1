#!/usr/bin/env bash
# Benchmarks of the packages, then a cold render against `cue export` of the
# same profile with its schema, and lint against kubeconform and kubeadm on the
# same files, in turn and on the same machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go test -run '^$' -bench . -benchmem ./internal/profile ./internal/estimate ./internal/recipe ./internal/plan ./generators/kubeadm ./generators/kops ./internal/check ./internal/lint
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make -s build BIN="$tmp"
(cd hack/peer && go build -ldflags "-s -w" -o "$tmp/cue" cuelang.org/go/cmd/cue)
stat -c 'stripped binary: %s bytes' "$tmp/seams"
SEAMS_BENCH_BIN=$tmp go test ./e2e -run '^$' -bench 'Cold|Thousand' -benchtime 20x
SEAMS=$tmp/seams hack/bench-lint.sh
