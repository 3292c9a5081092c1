#!/usr/bin/env bash
# Writes the go.mod and go.sum of a side module that builds upstream programs.
# usage: hack/binaries/module.sh MODULE VERSION DIR
#   MODULE is one of internal/binaries/builds.txt
#
# k8s.io/kubernetes replaces its staging modules by directories that a module
# download does not carry, and replaces of a dependency do not count: each one
# is replaced here by the module that upstream publishes of the same commit.
set -euo pipefail

kind=$1 version=v${2#v} dir=$3

kubernetes() {
	local source staging=v0.${version#v1.} name
	source=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
	printf 'module github.com/kubeseams/seams/hack/binaries/kubernetes\n\n'
	grep '^go ' "$source/go.mod"
	# The commands run with the defaults that upstream's own build gives them.
	grep '^godebug ' "$source/go.mod" || true
	printf '\ntool (\n\tk8s.io/apiextensions-apiserver\n'
	for name in kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubeadm kubectl kubelet; do
		printf '\tk8s.io/kubernetes/cmd/%s\n' "$name"
	done
	printf ')\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$version"
	sed -n 's#^\t\(k8s.io/[a-z-]*\) => ./staging/.*#\t\1 => \1 '"$staging"'#p' "$source/go.mod"
	printf ')\n'
}

etcd() {
	cat <<-END
		module github.com/kubeseams/seams/hack/binaries/etcd

		go 1.26.0

		tool (
			go.etcd.io/etcd/etcdctl/v3
			go.etcd.io/etcd/etcdutl/v3
			go.etcd.io/etcd/server/v3
		)

		require (
			go.etcd.io/etcd/etcdctl/v3 $version
			go.etcd.io/etcd/etcdutl/v3 $version
			go.etcd.io/etcd/server/v3 $version
		)
	END
}

kwok() {
	cat <<-END
		module github.com/kubeseams/seams/hack/binaries/kwok

		go 1.26.0

		tool sigs.k8s.io/kwok/cmd/kwok

		require sigs.k8s.io/kwok $version
	END
}

# one PATH PACKAGE...: the side module of a Go module that replaces nothing.
one() {
	local path=$1 package
	shift
	printf 'module github.com/kubeseams/seams/hack/binaries/%s\n\ngo 1.26.0\n\ntool (\n' "$kind"
	for package in "$@"; do
		printf '\t%s%s\n' "$path" "${package:+/$package}"
	done
	printf ')\n\nrequire %s %s\n' "$path" "$version"
}

# What the node image of hack/kind is made of.
containerd() { one github.com/containerd/containerd/v2 cmd/containerd cmd/containerd-shim-runc-v2 cmd/ctr; }
cni() { one github.com/containernetworking/plugins plugins/ipam/host-local plugins/main/loopback plugins/main/ptp plugins/meta/portmap; }
coredns() { printf 'module github.com/kubeseams/seams/hack/binaries/coredns\n\ngo 1.26.0\n\nrequire github.com/coredns/coredns %s\n' "$version"; }
cri-tools() { one sigs.k8s.io/cri-tools cmd/crictl; }
kind() { one sigs.k8s.io/kind ""; }

case $kind in
kubernetes | etcd | kwok | containerd | cni | coredns | cri-tools | kind) ;;
*) echo "module.sh: no side module called $kind" >&2; exit 2 ;;
esac
mkdir -p "$dir"
# Whole or not at all: an interrupted run must not leave half a module.
work=$(mktemp -d "$dir/.module.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$kind" >"$work/go.mod"
main=$(dirname "${BASH_SOURCE[0]}")/$kind/main.go
if [[ -f $main ]]; then cp "$main" "$work/"; fi
(cd "$work" && GOWORK=off go mod tidy)
mv "$work/go.sum" "$dir/go.sum"
if [[ -f $work/main.go && ! $dir/main.go -ef $main ]]; then mv "$work/main.go" "$dir/main.go"; fi
mv "$work/go.mod" "$dir/go.mod"
