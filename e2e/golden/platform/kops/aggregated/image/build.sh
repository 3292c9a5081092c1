#!/bin/sh
# Rendered by seams 0.1.0 for Kubernetes 1.36.3 on kops 1.36.2, aws.
# Profile platform sha256:62f58aa081c195b08d9e88e59c603df6e11cd64390b1616bde031944770ef16e
# Recipe node/stock + churn/stock + state/partitioned sha256:e5e2d8dbfb72010358da5043072dde5a58dc0d49158eadfb1766395948923035
# Builds upstream's apiextensions-apiserver from its module and puts it into an
# image; PUSH=1 pushes it. ENGINE is docker or podman, ARCH the hosts' (amd64).
set -eu

image=${1:-registry.platform.example.dev/apiextensions-apiserver:v0.37.2}
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
