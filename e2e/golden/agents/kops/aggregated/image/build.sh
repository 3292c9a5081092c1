#!/bin/sh
# Rendered by seams 0.1.0 for Kubernetes 1.36.3 on kops 1.36.2, aws.
# Profile agents sha256:950878ca1bfe5361c650af03bff8db3b8439f3f2b504dcf33a3aade810f52fe2
# Recipe node/ci-5k + churn/aggregated-tier + state/stock sha256:5b824a4b9b62090e7c350cbada43a8379707d724030742d86ad0f9e03a6f73fd
# Builds upstream's apiextensions-apiserver from its module and puts it into an
# image; PUSH=1 pushes it. ENGINE is docker or podman, ARCH the hosts' (amd64).
set -eu

image=${1:-registry.agents.example.dev/apiextensions-apiserver:v0.37.2}
engine=${ENGINE:-docker}
dir=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
go mod init build >/dev/null 2>&1
go get k8s.io/apiextensions-apiserver@v0.36.3
CGO_ENABLED=0 GOOS=linux GOARCH="${ARCH:-amd64}" go build -trimpath -ldflags="-s -w" -o apiextensions-apiserver k8s.io/apiextensions-apiserver
cp "$dir/Dockerfile" .
"$engine" build --tag "$image" .
if [ -n "${PUSH:-}" ]; then "$engine" push "$image"; fi
