#!/usr/bin/env bash
# Writes internal/target/data and its archive: what each supported Kubernetes minor compiles in,
# gates and flags, from that minor's own modules. Compiling the flag programs of
# one minor takes some ten CPU minutes from a cold build cache.
#
# usage: hack/update-minors.sh [OUT_DIR]
#   MINORS="1.36.3 1.37.2"   only these (default: all that package target supports)
#   ETCDS="3.6.16 3.7.3"     only these (default: one release of each etcd minor)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
out=${1:-$root/internal/target/data}
case $out in /*) ;; *) out=$root/$out ;; esac
export CGO_ENABLED=0 GOFLAGS=-trimpath

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/minors" ./hack/minors

# dump MODULE_DIR PROGRAM FILE [ARGS…]: build one flag program and keep what it prints.
dump() {
	local dir=$1 program=$2 file=$3
	shift 3
	(cd "$dir" && go build -mod=mod -ldflags='-s -w' -o "$scratch/$program" "./$program")
	"$scratch/$program" "$@" >"$file"
	rm -f "$scratch/$program"
}

# source_of MODULE@VERSION: the directory the module is unpacked in.
source_of() {
	(cd "$scratch" && go mod download -json "$1") | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

for version in ${MINORS-$("$scratch/minors" -versions)}; do
	echo "Kubernetes $version" >&2
	source=$(source_of "k8s.io/kubernetes@v$version")
	module=$scratch/kube-$version
	mkdir -p "$module" "$scratch/flags-$version"
	cp -r hack/minors/flags/. "$module"
	{
		echo 'module github.com/kubeseams/seams/hack/minors/flags'
		grep -E '^(go|godebug) ' "$source/go.mod"
		echo "require k8s.io/kubernetes v$version"
		# Kubernetes builds its staging modules from its own tree; they are published beside it.
		sed -nE "s#^\t(k8s.io/[a-z-]+) => ./staging.*#replace \1 => \1 v0.${version#1.}#p" "$source/go.mod"
	} >"$module/go.mod"
	for program in scheduler apiserver controllermanager kubelet proxy apiextensions; do
		dump "$module" "$program" "$scratch/flags-$version/$program.json"
	done
	"$scratch/minors" -minor "${version%.*}" -source "$source" -flags "$scratch/flags-$version" -out "$out"
done

for version in ${ETCDS-3.6.16 3.7.3}; do
	echo "etcd $version" >&2
	source=$(source_of "go.etcd.io/etcd/server/v3@v$version")
	module=$scratch/etcd-$version
	mkdir -p "$module" "$scratch/flags-etcd-$version"
	cp -r hack/minors/flags/. "$module"
	{
		echo 'module github.com/kubeseams/seams/hack/minors/flags'
		grep -E '^go ' "$source/go.mod"
		echo "require go.etcd.io/etcd/server/v3 v$version"
	} >"$module/go.mod"
	mapfile -t own < <("$scratch/minors" -etcd-args -source "$source")
	dump "$module" etcd "$scratch/flags-etcd-$version/etcd.json" "${own[@]}"
	"$scratch/minors" -etcd -minor "${version%.*}" -source "$source" -flags "$scratch/flags-etcd-$version" -out "$out"
done

if [[ $out == "$root/internal/target/data" ]]; then
	go run ./hack/pack "$out" "$out.zip"
fi
