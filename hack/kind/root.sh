#!/usr/bin/env bash
# Makes the root file system of a node: Debian, and the files that kind lays
# over it in its own base image.
# usage: hack/kind/root.sh DIR      (an empty or absent directory; needs root)
set -euo pipefail

root=$1
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
packages=(
	# services
	systemd systemd-sysv dbus
	# what Kubernetes calls
	conntrack iptables nftables iproute2 ethtool util-linux mount kmod e2fsprogs
	# what containerd and kind call
	runc libseccomp2 pigz jq
	bash ca-certificates curl procps hostname
)

# mirror: where this system takes its own Debian packages from, and the suite.
mirror() {
	apt-get indextargets --format '$(SITE) $(CODENAME) $(ORIGIN)' 'Created-By: Packages' |
		awk '$3 == "Debian" && $2 !~ /-/ { print $1, $2; exit }'
}

# kinds_files: the directory of kind's base image in its module.
kinds_files() {
	printf '%s/images/base/files\n' "$(cd "$repo/hack/binaries/kind" && GOWORK=off go list -m -f '{{.Dir}}' sigs.k8s.io/kind)"
}

# lay FROM TO MODE: copies what is below a directory; a module's files are
# read-only, and no program.
lay() {
	local file
	while IFS= read -r file; do
		install -D -m "$3" "$1/$file" "$2/$file"
	done < <(cd "$1" && find . -type f)
}

# trim: units that kind's base image removes too; a container has no use for
# them, and systemd-binfmt would change the host's kernel.
trim() {
	local units=$root/lib/systemd/system
	find "$units/sysinit.target.wants/" -name systemd-tmpfiles-setup.service -delete
	rm -f "$units"/multi-user.target.wants/* "$root"/etc/systemd/system/*.wants/* \
		"$units"/local-fs.target.wants/* "$units"/sockets.target.wants/*udev* \
		"$units"/sockets.target.wants/*initctl* "$units"/basic.target.wants/*
	echo ReadKMsg=no >>"$root/etc/systemd/journald.conf"
	chroot "$root" systemctl enable kubelet.service containerd.service undo-mount-hacks.service
	chroot "$root" systemctl mask systemd-binfmt.service
	rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
	# Each node makes its own.
	rm -f "$root/etc/machine-id"
}

read -r site suite <<<"$(mirror)"
[[ -n ${suite:-} ]] || { echo "root.sh: apt-get names no Debian mirror" >&2; exit 1; }
include=$(IFS=, && echo "${packages[*]}")
debootstrap --variant=minbase --include="$include" "$suite" "$root" "$site"
mountpoint -q "$root/proc" && umount "$root/proc"

files=$(kinds_files)
lay "$files/etc" "$root/etc" 0644
lay "$files/usr/local/bin" "$root/usr/local/bin" 0755
lay "$files/kind" "$root/kind" 0644
chmod 0755 "$root"/kind/bin/*
mkdir -p "$root/etc/kubernetes/manifests" "$root/etc/cni/net.d" "$root/opt/cni/bin" "$root/kind/manifests"
trim
