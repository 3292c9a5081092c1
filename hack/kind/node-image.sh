#!/usr/bin/env bash
# Makes the kind node image of a version of Kubernetes out of Go modules and
# Debian packages, once: its tag is of all that decides its bytes. Prints the
# image's name. Needs Docker (docker.sh up) and root.
# usage: hack/kind/node-image.sh
#   K8S=1.36.3               another version than that of builds.txt
#   KIND_NODE_IMAGE=NAME     print NAME and make nothing: any image of kind's
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$here/../..
cache=${XDG_CACHE_HOME:-$HOME/.cache}/seams/kind
builder=
work=

if [[ -n ${KIND_NODE_IMAGE:-} ]]; then
	echo "$KIND_NODE_IMAGE"
	exit
fi

clean() {
	[[ -z $builder ]] || docker rm -f "$builder" >/dev/null
	[[ -z $work ]] || rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

# where NAME...: the paths of programs in the cache.
where() { WHERE=1 "$repo/hack/build-binaries.sh" "$@"; }

# Parts of a node beside the images of its pods.
node_programs=(containerd containerd-shim-runc-v2 ctr crictl)
kube_programs=(kubeadm kubelet kubectl)
plugins=(host-local loopback ptp portmap)

# digest FILE...: twelve digits of what files say and of where programs are:
# their directories carry version and build flags.
digest() {
	{
		cat "$@"
		where "${node_programs[@]}" "${kube_programs[@]}" "${plugins[@]}" | awk -F/ '{ print $(NF-1), $NF }'
	} | sha256sum | cut -c 1-12
}

# root_tree: the Debian root, made once for all versions of Kubernetes.
root_tree() {
	local tree
	tree=$cache/root-$(cat "$here/root.sh" "$repo/hack/binaries/kind/go.mod" | sha256sum | cut -c 1-12)
	if [[ ! -d $tree ]]; then
		command -v debootstrap >/dev/null || {
			say "installing debootstrap"
			apt-get -qq install --yes --no-install-recommends debootstrap >/dev/null
		}
		rm -rf "$tree.part"
		say "Debian root, some minutes: log in $cache/root.log"
		"$here/root.sh" "$tree.part" >"$cache/root.log" 2>&1 || { tail -20 "$cache/root.log" >&2; return 1; }
		mv "$tree.part" "$tree"
	fi
	echo "$tree"
}

# fill ROOT: the programs of a node, and their configuration, into its root.
fill() {
	local root=$1 config=$1/etc/containerd/config.toml pause
	# containerd looks for runc in the PATH, Debian has it in /usr/sbin.
	mapfile -t paths < <(where "${node_programs[@]}")
	install -m 0755 "${paths[@]}" "$root/usr/local/bin/"
	mapfile -t paths < <(where "${kube_programs[@]}")
	install -m 0755 "${paths[@]}" "$root/usr/bin/"
	mapfile -t paths < <(where "${plugins[@]}")
	install -m 0755 "${paths[@]}" "$root/opt/cni/bin/"
	printf %s "$version" >"$root/kind/version"
	pause=$("$kubeadm" config images list --kubernetes-version "$version" | grep /pause:)
	sed -i "s#sandbox_image = .*#sandbox_image = \"$pause\"#" "$config"
	# A node container without CAP_SYS_RESOURCE cannot lower a score.
	sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$config"
	# What kind's own base image makes of it: its mounts, and no limits that the
	# container may not raise.
	chroot "$root" /usr/local/bin/ctr oci spec |
		jq '.hooks.createContainer[.hooks.createContainer | length] |= . + {"path": "/kind/bin/mount-product-files.sh"} | del(.process.rlimits)' \
			>"$work/cri-base.json"
	install -m 0644 "$work/cri-base.json" "$root/etc/containerd/cri-base.json"
}

# preload BASE DIR: the images of DIR into a container of BASE, which becomes
# the node image.
preload() {
	local tar
	builder=$(docker run -d --privileged --entrypoint sleep "$1" infinity)
	docker exec -d --privileged "$builder" /usr/local/bin/containerd
	for _ in $(seq 60); do
		docker exec --privileged "$builder" ctr version >/dev/null 2>&1 && break
		sleep 0.5
	done
	for tar in "$2"/*.tar; do
		docker exec -i --privileged "$builder" ctr -n k8s.io images import --all-platforms --no-unpack --digests - <"$tar" >&2
	done
	docker exec --privileged "$builder" pkill -x containerd
	docker exec --privileged "$builder" sh -c 'for i in $(seq 50); do pgrep -x containerd >/dev/null || exit 0; sleep 0.2; done; exit 1'
	docker commit "$builder" "$1-loaded" >/dev/null
	# systemd ends on this signal; docker import and commit know no way to say it.
	printf 'FROM %s-loaded\nSTOPSIGNAL SIGRTMIN+3\nENV container=docker\nENTRYPOINT ["/usr/local/bin/entrypoint","/sbin/init"]\n' "$1" |
		DOCKER_BUILDKIT=0 docker build -q -t "$image" - >/dev/null
	docker rm -f "$builder" >/dev/null
	builder=
	docker rmi "$1-loaded" "$1" >/dev/null 2>&1 || true
}

kubeadm=$(where kubeadm)
version=v$(basename "$(dirname "$kubeadm")" | sed 's/^v//; s/-[0-9a-f]*$//')
image=seams/kind-node:$version-$(digest "$here"/{node-image,root,component-images}.sh "$here/pause/main.go" "$repo"/hack/binaries/{kind/go.mod,coredns/main.go})
if docker image inspect "$image" >/dev/null 2>&1; then
	echo "$image"
	exit
fi
[[ $(id -u) == 0 ]] || { echo "node-image.sh: making a root file system needs root; run this as root, or set KIND_NODE_IMAGE" >&2; exit 1; }
began=$SECONDS
mkdir -p "$cache"
exec 8>"$cache/.lock"
flock 8
work=$(mktemp -d "$cache/work.XXXXXX")
"$repo/hack/build-binaries.sh" "${node_programs[@]}" "${kube_programs[@]}" "${plugins[@]}" >&2
tree=$(root_tree)
say "images of a control plane"
"$here/component-images.sh" "$kubeadm" "$version" "$tree" "$work/images" >&2
say "node image"
cp -a "$tree" "$work/root"
fill "$work/root"
base=seams/kind-base:$(basename "$work" | tr '[:upper:].' '[:lower:]-')
tar -C "$work/root" -c . | docker import - "$base" >/dev/null
preload "$base" "$work/images"
say "made $image in $((SECONDS - began)) s"
echo "$image"
