#!/usr/bin/env bash
# Builds upstream programs from their Go modules into a per-user cache, one
# after another; what is there already is left alone.
# usage: hack/build-binaries.sh [NAME...]     (all of builds.txt by default)
#   K8S=1.36.3 ETCD=3.7.3 KWOK=0.8.0 COREDNS=1.14.6
#                                     other versions than those of builds.txt
#   WHERE=1                           print the paths and build nothing
#   XDG_CACHE_HOME                    where caches are, ~/.cache by default
# The module of a version that hack/binaries does not hold is derived in the
# cache. Two builds side by side take longer than one after the other.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
table=$root/internal/binaries/builds.txt
cache=${XDG_CACHE_HOME:-$HOME/.cache}/seams/bin
export CGO_ENABLED=0 GOFLAGS=-trimpath GOWORK=off
platform=$(go env GOOS)/$(go env GOARCH)

# field KIND KEY: the rest of the line of the table that starts with them.
field() { awk -v kind="$1" -v key="$2" '$1 == kind && $2 == key { sub(/^[^ ]+ +[^ ]+ +/, ""); print; exit }' "$table"; }

say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*"; }

# wanted MODULE: the version to build, with its v.
wanted() {
	local asked=
	case $1 in
	kubernetes) asked=${K8S:-} ;;
	etcd) asked=${ETCD:-} ;;
	kwok) asked=${KWOK:-} ;;
	coredns) asked=${COREDNS:-} ;;
	esac
	asked=${asked:-$(field version "$1")}
	printf 'v%s\n' "${asked#v}"
}

# digest MODULE: twelve digits of what decides the bytes beside the version.
digest() {
	local tags
	tags=$(field tags "$1")
	printf '%s\n' "$(field ldflags "$1")" "$platform" ${tags:+"$tags"} | sha256sum | cut -c 1-12
}

# module_dir MODULE VERSION: a directory with the go.mod to build in.
module_dir() {
	local dir=$root/hack/binaries/$1
	if [[ $2 != "$(field version "$1")" ]]; then
		dir=$cache/modules/$1-$2
		# Progress of go mod tidy is talk, the path is the answer.
		[[ -f $dir/go.mod ]] || "$root/hack/binaries/module.sh" "$1" "$2" "$dir" >&2
	fi
	printf '%s\n' "$dir"
}

# ldflags MODULE VERSION DIR: the flags with their stamps. Commit and
# date are those of the module, so that the same version gives the same bytes.
ldflags() {
	local flags info origin major minor
	flags=$(field ldflags "$1")
	if [[ $flags == *"{"* ]]; then
		info=$(cd "$3" && go list -m -json "$(owner "$1")@$2")
		origin=$(sed -n 's/.*"Hash": "\([0-9a-f]*\)".*/\1/p' <<<"$info")
		IFS=. read -r major minor _ <<<"${2#v}"
		flags=${flags//\{version\}/$2}
		flags=${flags//\{major\}/$major}
		flags=${flags//\{minor\}/$minor}
		flags=${flags//\{commit\}/${origin:-unknown}}
		flags=${flags//\{date\}/$(sed -n 's/.*"Time": "\(.*\)".*/\1/p' <<<"$info" | head -1)}
	fi
	printf '%s\n' "$flags"
}

# owner MODULE: the Go module whose version is asked for.
owner() {
	case $1 in
	kubernetes) echo k8s.io/kubernetes ;;
	etcd) echo go.etcd.io/etcd/server/v3 ;;
	kwok) echo sigs.k8s.io/kwok ;;
	containerd) echo github.com/containerd/containerd/v2 ;;
	cni) echo github.com/containernetworking/plugins ;;
	coredns) echo github.com/coredns/coredns ;;
	cri-tools) echo sigs.k8s.io/cri-tools ;;
	kind) echo sigs.k8s.io/kind ;;
	esac
}

# kwok_stages DIR FILE: kwok exits with "no stages found" unless it is given
# some. These are the ones it is published with for nodes that renew leases
# and pods that run at once.
kwok_stages() {
	local source part file
	source=$(cd "$1" && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
	for part in node/fast node/heartbeat-with-lease pod/fast; do
		for file in "$source/kustomize/stage/$part"/*.yaml; do
			[[ ${file##*/} == kustomization.yaml ]] && continue
			printf -- '---\n'
			cat "$file"
		done
	done >"$2.part"
	mv "$2.part" "$2"
}

# build NAME: builds one program unless it is there.
build() {
	local name=$1 line module package version dir flags tags target started
	line=$(field build "$name")
	[[ -n $line ]] || { echo "build-binaries: nothing called $name in ${table#"$root"/}" >&2; return 2; }
	read -r module package <<<"$line"
	version=$(wanted "$module")
	target=$cache/$name/$version-$(digest "$module")
	if [[ -n ${WHERE:-} ]]; then
		printf '%s\n' "$target/$name"
		return
	fi
	if [[ -x $target/$name ]]; then
		say "have  $name $version"
		return
	fi
	started=$SECONDS
	say "build $name $version"
	dir=$(module_dir "$module" "$version")
	flags=$(ldflags "$module" "$version" "$dir")
	tags=$(field tags "$module")
	mkdir -p "$target"
	(cd "$dir" && go build ${tags:+-tags "$tags"} -ldflags "$flags" -o "$target/.$name.part" "$package")
	[[ $name != kwok ]] || kwok_stages "$dir" "$target/kwok-stages.yaml"
	mv "$target/.$name.part" "$target/$name"
	say "built $name $version in $((SECONDS - started)) s, $(du -h "$target/$name" | cut -f 1)"
}

names=("$@")
[[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(awk '$1 == "build" { print $2 }' "$table")
if [[ -n ${WHERE:-} ]]; then
	for name in "${names[@]}"; do
		build "$name"
	done
	exit
fi

mkdir -p "$cache"
exec 9>"$cache/.lock"
if command -v flock >/dev/null && ! flock -n 9; then
	say "another build is at work; waiting for it"
	flock 9
fi
began=$SECONDS
for name in "${names[@]}"; do
	build "$name"
done
say "done  ${#names[@]} programs in $((SECONDS - began)) s below $cache"
