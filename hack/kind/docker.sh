#!/usr/bin/env bash
# Docker for a kind cluster: used as it is where it runs, started where it is
# only installed, installed from Debian's packages where it is absent.
# usage: hack/kind/docker.sh up|down|started
#   up       make sure that docker info answers
#   down     stop the dockerd that up started; one that ran before is left alone
#   started  exit 0 when the running dockerd is one that up started
# Where none of it can be done, it says what is missing and exits 1: tests that
# need Docker fail, they are not skipped.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=${XDG_CACHE_HOME:-$HOME/.cache}/seams/kind
pidfile=$state/dockerd.pid
log=$state/dockerd.log
# Bit of CAP_SYS_RESOURCE in the kernel's capability sets.
resource_bit=24

die() {
	printf 'docker.sh: %s\n' "$@" >&2
	exit 1
}

answers() { docker info >/dev/null 2>&1; }

# as_root COMMAND...: as it is for root, by sudo where that asks nothing.
as_root() {
	if [[ $(id -u) == 0 ]]; then
		"$@"
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		sudo -n "$@"
	else
		die "this needs root: $*" "run it as root, or install and start Docker yourself and run this again"
	fi
}

# install_packages NAME...: Debian packages, without starting their services:
# dockerd is started below, with the flags that this host needs.
install_packages() {
	command -v apt-get >/dev/null || die \
		"Docker is not installed, and this is no system with apt-get to install it by" \
		"install Docker Engine 20.10 or later, see that 'docker info' answers, and run this again"
	echo "installing $*" >&2
	as_root apt-get -qq update >&2 || true
	as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
		apt-get -qq install --yes --no-install-recommends "$@" >"$state/apt.log" 2>&1 || {
		tail -20 "$state/apt.log" >&2
		die "apt-get could not install $*" "install Docker Engine 20.10 or later, and run this again"
	}
}

# lacks_resource: this host's bounding set lacks CAP_SYS_RESOURCE, as that of a
# container or a sandbox often does. A privileged container asks for all that
# Docker knows, and runc refuses what it cannot give.
lacks_resource() {
	local bounding
	bounding=$(awk '/^CapBnd:/ { print $2 }' /proc/self/status)
	(((16#$bounding >> resource_bit & 1) == 0))
}

# weigh: on cgroup v1 all containers together weigh as much as one process of the
# host, so that a compiler beside them starves a control plane until its probes
# give up.
weigh() {
	local cpu=/sys/fs/cgroup/cpu
	[[ -d $cpu ]] || return 0
	as_root sh -c "mkdir -p $cpu/docker && echo 4096 >$cpu/docker/cpu.shares" || true
}

start() {
	local flags=(--pidfile "$pidfile")
	if lacks_resource; then
		command -v jq >/dev/null || install_packages jq
		echo "no CAP_SYS_RESOURCE here: containers are run without it" >&2
		flags+=(--add-runtime "without-resource=$here/runc-without-resource" --default-runtime without-resource)
	fi
	weigh
	echo "starting dockerd, log in $log" >&2
	# In a session of its own: an interrupt of a test run is not for dockerd. And
	# without the caller's open files: a lock held by one of them would never end.
	(
		for fd in /proc/self/fd/*; do
			((${fd##*/} > 2)) && eval "exec ${fd##*/}>&-" || true
		done
		as_root setsid nohup dockerd "${flags[@]}"
	) >"$log" 2>&1 </dev/null &
	for _ in $(seq 120); do
		answers && return
		kill -0 $! 2>/dev/null || [[ -s $pidfile ]] || break
		sleep 0.5
	done
	tail -20 "$log" >&2
	die "dockerd does not come up: its log is $log" "start Docker yourself, see that 'docker info' answers, and run this again"
}

up() {
	mkdir -p "$state"
	command -v docker >/dev/null && answers && return
	[[ $(uname -s) == Linux ]] || die "Docker does not answer" "start it, see that 'docker info' answers, and run this again"
	local missing=()
	command -v dockerd >/dev/null || missing+=(docker.io)
	command -v iptables >/dev/null || missing+=(iptables)
	[[ ${#missing[@]} == 0 ]] || install_packages "${missing[@]}"
	answers || start
}

started() {
	local pid
	[[ -s $pidfile ]] || return 1
	pid=$(<"$pidfile")
	[[ -r /proc/$pid/comm && $(<"/proc/$pid/comm") == dockerd ]]
}

down() {
	started || return 0
	local pid
	pid=$(<"$pidfile")
	as_root kill "$pid"
	for _ in $(seq 60); do
		[[ -d /proc/$pid ]] || return 0
		sleep 0.5
	done
	die "dockerd ($pid) does not end"
}

case ${1:-} in
up) up ;;
down) down ;;
started) started ;;
*) echo "usage: docker.sh up|down|started" >&2; exit 2 ;;
esac
