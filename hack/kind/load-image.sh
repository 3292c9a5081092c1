#!/usr/bin/env bash
# Loads an image archive (docker save, or an OCI layout as tar) into every node
# of a kind cluster, so that pods run it without a registry.
# usage: hack/kind/load-image.sh TAR [CLUSTER]     (the only cluster by default)
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ $# -ge 1 && -r $1 ]] || { echo "usage: load-image.sh TAR [CLUSTER]" >&2; exit 2; }
kind=$(WHERE=1 "$repo/hack/build-binaries.sh" kind)
mapfile -t clusters < <("$kind" get clusters 2>/dev/null)
cluster=${2:-${clusters[0]:-}}
if [[ -z $cluster || (-z ${2:-} && ${#clusters[@]} -gt 1) ]]; then
	echo "load-image.sh: ${#clusters[@]} clusters run; say which" >&2
	exit 2
fi
mapfile -t nodes < <("$kind" get nodes --name "$cluster" 2>/dev/null)
[[ ${#nodes[@]} -gt 0 ]] || { echo "load-image.sh: cluster $cluster has no nodes" >&2; exit 1; }
for node in "${nodes[@]}"; do
	docker exec -i --privileged "$node" ctr -n k8s.io images import --digests - <"$1"
done
