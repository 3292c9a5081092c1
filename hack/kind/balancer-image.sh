#!/usr/bin/env bash
# Makes the image of the proxy that kind puts before several control planes,
# under the name that kind asks for, out of hack/kind/balancer and a node image
# of our making. An image of that name from elsewhere is left as it is.
# usage: hack/kind/balancer-image.sh NODE-IMAGE
#   KIND_NODE_IMAGE   where it is set, nothing is made: kind pulls its own
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$here/../..
[[ -z ${KIND_NODE_IMAGE:-} ]] || exit 0
node=${1:?the node image}
label=seams.kind.balancer

kind=$(cd "$repo/hack/binaries/kind" && GOWORK=off go list -m -f '{{.Dir}}' sigs.k8s.io/kind)
image=$(sed -n 's/^const Image = "\(.*\)"$/\1/p' "$kind/pkg/cluster/internal/loadbalancer/const.go")
[[ -n $image ]] || { echo "balancer-image.sh: kind's module does not say what image its proxy has" >&2; exit 1; }
digest=$({ cat "$here"/balancer/*.go "$0"; echo "$node"; } | sha256sum | cut -c 1-12)
if have=$(docker image inspect -f "{{index .Config.Labels \"$label\"}}" "$image" 2>/dev/null); then
	# No label: the real one. Ours of today: nothing to do.
	[[ -n $have && $have != "$digest" ]] || exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$repo" && CGO_ENABLED=0 GOFLAGS=-trimpath go build -ldflags "-s -w" -o "$work/envoy" ./hack/kind/balancer)
# kind starts it by bash, and writes its files by cp, chmod and mv.
printf 'FROM %s\nCOPY envoy /usr/local/bin/envoy\nENTRYPOINT []\nSTOPSIGNAL SIGTERM\nLABEL %s=%s\n' "$node" "$label" "$digest" >"$work/Dockerfile"
DOCKER_BUILDKIT=0 docker build -q -t "$image" "$work" >/dev/null
echo "made $image" >&2
