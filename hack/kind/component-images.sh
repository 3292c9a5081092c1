#!/usr/bin/env bash
# Makes the images of a control plane out of the cached programs, under the
# names that kubeadm asks for, and saves each as a tar that containerd imports.
# usage: hack/kind/component-images.sh KUBEADM VERSION ROOT OUT
#   ROOT  the node's root file system: kube-proxy's tools are taken out of it
set -euo pipefail

kubeadm=$1 version=$2 root=$3 out=$4
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The classic builder needs no plugin of docker's.
export DOCKER_BUILDKIT=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program NAME: its path, built where it is absent.
program() {
	"$repo/hack/build-binaries.sh" "$1" >&2
	WHERE=1 "$repo/hack/build-binaries.sh" "$1"
}

# image REFERENCE ENTRYPOINT DIR: an image of nothing but what is below DIR.
# docker's own name for an image needs the whole reference.
image() {
	mkdir -p "$3/etc" "$3/tmp"
	chmod 1777 "$3/tmp"
	echo 'root:x:0:0:root:/:/sbin/nologin' >"$3/etc/passwd"
	{
		printf 'FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n'
		[[ -z $2 ]] || printf 'ENTRYPOINT ["%s"]\n' "$2"
	} >"$work/Dockerfile"
	docker build -q -t "$1" -f "$work/Dockerfile" "$3" >/dev/null
	docker save -o "$out/$(tr '/:' '__' <<<"${1#*/}").tar" "$1"
	docker rmi "$1" >/dev/null
	echo "$1"
}

# put DIR PROGRAM...: into DIR, where images have their programs.
put() {
	local dir=$1/usr/local/bin
	shift
	mkdir -p "$dir"
	cp "$@" "$dir/"
}

# network_tools DIR: nft, iptables and conntrack with their libraries.
network_tools() {
	local tool alias library
	mkdir -p "$1/usr/sbin" "$1/usr/lib"
	for tool in nft conntrack xtables-nft-multi; do
		cp -L "$root/usr/sbin/$tool" "$1/usr/sbin/"
		chroot "$root" ldd "/usr/sbin/$tool" | grep -oE '/[^ ]+\.so[^ ]*' | while read -r library; do
			install -D "$root$library" "$1$library"
		done
	done
	for alias in iptables ip6tables iptables-save ip6tables-save iptables-restore ip6tables-restore; do
		ln -sf xtables-nft-multi "$1/usr/sbin/$alias"
	done
	# The extensions that iptables opens by name.
	(cd "$root" && find usr/lib -type d -name xtables -exec cp -a --parents {} "$1/" \;)
	ln -sfn usr/sbin "$1/sbin"
}

# make_image REFERENCE: the image of what a reference names.
make_image() {
	local name=${1##*/} dir=$work/root
	rm -rf "$dir"
	name=${name%%:*}
	local tag=${1##*:}
	case $name in
	kube-proxy)
		network_tools "$dir"
		put "$dir" "$(program kube-proxy)"
		image "$1" "" "$dir"
		;;
	kube-*)
		put "$dir" "$(program "$name")"
		image "$1" "/usr/local/bin/$name" "$dir"
		;;
	etcd)
		# 3.7.0-0 is the first build of an image of etcd 3.7.0.
		export ETCD=${tag%%-*}
		put "$dir" "$(program etcd)" "$(program etcdctl)"
		unset ETCD
		image "$1" "" "$dir"
		;;
	coredns)
		put "$dir" "$(COREDNS=${tag#v} program coredns)"
		install -D "$root/etc/ssl/certs/ca-certificates.crt" "$dir/etc/ssl/certs/ca-certificates.crt"
		image "$1" /usr/local/bin/coredns "$dir"
		;;
	pause)
		mkdir -p "$dir"
		(cd "$repo" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$dir/pause" ./hack/kind/pause)
		image "$1" /pause "$dir"
		;;
	*)
		echo "component-images.sh: kubeadm asks for $1, which nothing here makes" >&2
		return 1
		;;
	esac
}

mkdir -p "$out"
# No shell option ends a script for a failure inside $(...) of a loop: take the list first.
references=$("$kubeadm" config images list --kubernetes-version "$version")
while read -r reference; do
	make_image "$reference"
done <<<"$references"
