#!/usr/bin/env bash
# Builds the image that the Pods of "seams prove --kubeconfig" run.
# usage: hack/load-image/build.sh IMAGE        such as registry.example/seams-load:1
#   DOCKER=podman                       another builder
#   GOARCH=arm64                        for nodes of another kind
# Pushing it to where the cluster fetches from is yours to do:
#   docker push IMAGE        or        kind load docker-image IMAGE
set -euo pipefail

image=${1:?usage: hack/load-image/build.sh IMAGE}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
docker=${DOCKER:-docker}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export CGO_ENABLED=0 GOFLAGS=-trimpath GOWORK=off GOOS=linux
(cd "$root" && go build -ldflags "-s -w" -o "$work/seams" ./cmd/seams)
# kwok's licence goes with its program.
cd "$root/hack/binaries/kwok"
go build -ldflags "-s -w" -o "$work/kwok" sigs.k8s.io/kwok/cmd/kwok
install -m 0644 "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/LICENSE" "$work/LICENSE.kwok"
cp "$root/hack/load-image/Dockerfile" "$work/"
"$docker" build -t "$image" "$work"
