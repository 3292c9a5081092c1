#!/usr/bin/env bash
# Brings a rendered profile up as a kind cluster, or takes one down.
# usage: hack/kind/cluster.sh up PROFILE [RENDER-FLAG...]   prints the kubeconfig
#        hack/kind/cluster.sh down NAME
#   K8S, KIND_NODE_IMAGE   as for node-image.sh
#   OUT                    where to render to, out/kind/PROFILE's name by default
# example: hack/kind/cluster.sh up e2e/kind/testdata/single.cue --rung node/leases-store
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
export CGO_ENABLED=0 GOFLAGS=-trimpath

where() { WHERE=1 "$repo/hack/build-binaries.sh" "$1"; }

up() {
	local profile=$1 name dir image
	shift
	name=$(basename "$profile")
	dir=${OUT:-$repo/out/kind/${name%.*}}
	"$here/docker.sh" up >&2
	"$repo/hack/build-binaries.sh" kind kubectl kubeadm >&2
	image=$("$here/node-image.sh")
	"$here/balancer-image.sh" "$image"
	(cd "$repo" && go run ./cmd/seams render -f "$profile" --target kind ${K8S:+--kubernetes "$K8S"} --force "$@" -d "$dir" >&2)
	(cd "$repo" && go run ./hack/kind/cluster -dir "$dir" -image "$image" -kind "$(where kind)" -kubectl "$(where kubectl)")
}

case ${1:-} in
up) [[ $# -ge 2 ]] || { sed -n '3,7p' "$0" >&2; exit 2; }
	profile=$(realpath "$2")
	shift 2
	up "$profile" "$@" ;;
down) cd "$repo"
	go run ./hack/kind/cluster -kind "$(where kind)" -delete "${2:?the name of the cluster}" ;;
*) sed -n '3,7p' "$0" >&2; exit 2 ;;
esac
