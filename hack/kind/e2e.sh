#!/usr/bin/env bash
# Runs the tests of e2e/kind with all that they need brought here: Docker,
# upstream's programs, the node image. Clusters go when it ends, an interrupt
# included, and Docker too if it was started by this; what failed leaves its logs.
# usage: hack/kind/e2e.sh [GO-TEST-FLAG...]      for example -run TestSingle
#   K8S=1.36.3             another version of Kubernetes
#   KIND_NODE_IMAGE=NAME   a node image that is there or can be pulled
#   KEEP_DOCKER=1          leave Docker running
#   LOGS=DIR               where logs of failures go, out/kind-logs by default
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
export CGO_ENABLED=0 GOFLAGS=-trimpath
started=
work=

where() { WHERE=1 "$repo/hack/build-binaries.sh" "$1"; }

clean() {
	local status=$? name
	trap '' INT TERM
	# Tests that ended took their clusters down; one that was killed did not.
	if [[ -s ${SEAMS_KIND_RECORD:-} ]]; then
		while read -r name; do
			"$work/cluster" -kind "$SEAMS_KIND" -delete "$name" || true
		done <"$SEAMS_KIND_RECORD"
	fi
	[[ -z $work ]] || rm -rf "$work"
	[[ -z $started || -n ${KEEP_DOCKER:-} ]] || "$here/docker.sh" down
	exit "$status"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

running=
command -v docker >/dev/null && docker info >/dev/null 2>&1 && running=1
"$here/docker.sh" up
[[ -n $running ]] || started=1

"$repo/hack/build-binaries.sh" kind kubectl kubeadm etcdutl
SEAMS_KIND_IMAGE=$("$here/node-image.sh")
"$here/balancer-image.sh" "$SEAMS_KIND_IMAGE"
SEAMS_KIND=$(where kind)
SEAMS_KUBECTL=$(where kubectl)
SEAMS_ETCDUTL=$(where etcdutl)
SEAMS_KUBERNETES=$("$(where kubeadm)" version -o short)
SEAMS_KUBERNETES=${SEAMS_KUBERNETES#v}
SEAMS_KIND_LOGS=${LOGS:-$repo/out/kind-logs}
work=$(mktemp -d)
SEAMS=$work/seams
SEAMS_KIND_RECORD=$work/clusters
export SEAMS SEAMS_ETCDUTL SEAMS_KIND SEAMS_KIND_IMAGE SEAMS_KIND_LOGS SEAMS_KIND_RECORD SEAMS_KUBECTL SEAMS_KUBERNETES
cd "$repo"
go build -o "$SEAMS" ./cmd/seams
go build -o "$work/cluster" ./hack/kind/cluster
go test -tags kind -count=1 -timeout 60m -v "$@" ./e2e/kind/
