#!/usr/bin/env bash
# usage: bench-lint.sh [SETS]
# Lints files on disk beside two programs that people check such files with, one
# after the other on the same files, and prints the processors' time of each, how
# many files that is in a minute on all of them, and the ratios:
#   kubeconform          static pods against schemas made of upstream's OpenAPI
#   kubeadm config validate  kubeadm's configurations, one process a file
# SEAMS and KUBEADM name programs that are built; otherwise seams is built here
# and kubeadm is looked for where `make binaries` leaves it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sets=${1:-2500}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

seams=${SEAMS:-$tmp/seams}
[ -n "${SEAMS:-}" ] || go build -ldflags "-s -w" -o "$seams" ./cmd/seams
kubeadm=${KUBEADM:-$(find "${XDG_CACHE_HOME:-$HOME/.cache}/seams/bin/kubeadm" -name kubeadm -type f | sort -V | tail -n 1)}
[ -x "$kubeadm" ] || { echo "bench-lint: no kubeadm: run make binaries, or name one with KUBEADM=PATH" >&2; exit 2; }
(cd hack/kubeconform && go build -o "$tmp/kubeconform" github.com/yannh/kubeconform/cmd/kubeconform)

# The schema of a Pod, with all it refers to, from the module that kubeadm is built of.
spec=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes)/api/openapi-spec/swagger.json
mkdir "$tmp/schemas"
jq -c '
	.definitions
	| map_values(if .properties and (.additionalProperties | not) then .additionalProperties = false else . end)
	| .["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = {oneOf: [{type: "string"}, {type: "integer"}]}
	| .["io.k8s.apimachinery.pkg.api.resource.Quantity"] = {oneOf: [{type: "string"}, {type: "number"}]}
	| {"$ref": "#/definitions/io.k8s.api.core.v1.Pod", definitions: .}
' "$spec" >"$tmp/schemas/pod-v1.json"

# Four static pods and a configuration for each set, all of them valid; in
# blocks, since a copy is a process.
"$seams" render -q -f recipes/examples/training-15k.cue --target staticpod --fail-on never -d "$tmp/rendered"
"$seams" render -q -f recipes/examples/training-15k.cue --fail-on never -d "$tmp/kubeadm"
host=$(basename "$(find "$tmp/rendered/manifests" -mindepth 1 -maxdepth 1 | sort | head -n 1)")
block=50
sets=$(((sets + block - 1) / block * block))
mkdir -p "$tmp/pods" "$tmp/configs"
for i in $(seq "$block"); do
	mkdir -p "$tmp/block/pods/$i/manifests" "$tmp/block/configs/$i"
	cp "$tmp/rendered/manifests/$host"/{etcd,kube-apiserver,kube-controller-manager,kube-scheduler}.yaml "$tmp/block/pods/$i/manifests/"
	cp "$tmp/kubeadm/init.yaml" "$tmp/block/configs/$i/"
done
for i in $(seq $((sets / block))); do
	cp -r "$tmp/block/pods" "$tmp/pods/$i"
	cp -r "$tmp/block/configs" "$tmp/configs/$i"
done

# seconds CMD...: the processors' time that it takes, with its children's, which
# other work on the machine does not change; its exit code is not asked for,
# since findings are none of a benchmark's business.
seconds() {
	local TIMEFORMAT='%U %S'
	{ time "$@" >"$tmp/out" 2>&1 || true; } 2>&1 | awk '{printf "%.3f", $1 + $2}'
}
cores=$(nproc)
row() { # NAME FILES SECONDS
	awk -v name="$1" -v n="$2" -v s="$3" -v c="$cores" 'BEGIN{printf "%-34s %6d files %8.2f s of processors %9.0f files/min on %d\n", name, n, s, n / s * 60 * c, c}'
}
ratio() { # TEXT A B
	awk -v t="$1" -v a="$2" -v b="$3" 'BEGIN{printf "%s: %.3f\n", t, a / b}'
}

pods=$((sets * 4))
"$tmp/kubeconform" -strict -schema-location "$tmp/schemas/{{.ResourceKind}}-v1.json" "$tmp/pods/1/1" >"$tmp/out" 2>&1 || { cat "$tmp/out"; exit 1; }
for round in 1 2 3; do
	echo "round $round"
	ours=$(seconds "$seams" lint --fail-on never "$tmp/pods")
	grep -q "^$pods files linted" "$tmp/out" || { tail -n 3 "$tmp/out"; exit 1; }
	theirs=$(seconds "$tmp/kubeconform" -strict -n "$(nproc)" -schema-location "$tmp/schemas/{{.ResourceKind}}-v1.json" "$tmp/pods")
	row "seams lint, static pods" "$pods" "$ours"
	row "kubeconform, static pods" "$pods" "$theirs"
	ratio "  seams takes, of kubeconform's time" "$ours" "$theirs"
	one=$(seconds "$seams" lint --fail-on never "$tmp/configs")
	grep -q "^$sets files linted" "$tmp/out" || { tail -n 3 "$tmp/out"; exit 1; }
	few=$block
	# shellcheck disable=SC2016 # expanded by the inner shell
	each=$(seconds sh -c 'for i in $(seq "$1"); do "$2" config validate --config "$3/1/$i/init.yaml"; done' - "$few" "$kubeadm" "$tmp/configs")
	row "seams lint, kubeadm configurations" "$sets" "$one"
	row "kubeadm config validate, each" "$few" "$each"
	ratio "  seams takes a file, of kubeadm's time" "$(awk -v s="$one" -v n="$sets" 'BEGIN{print s / n}')" "$(awk -v s="$each" -v n="$few" 'BEGIN{print s / n}')"
done
