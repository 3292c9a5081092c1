#!/usr/bin/env bash
# usage: render-examples.sh SEAMS OUT EXAMPLE...
# Explains each example, and renders it for kubeadm and for kOps below OUT.
set -euo pipefail
seams=$1 out=$2
shift 2
for example in "$@"; do
	profile=recipes/examples/$example.cue
	"$seams" explain -f "$profile" --fail-on never
	echo
	for target in kubeadm kops; do
		# 3 says that no rung carries the load on this target, and renders nothing.
		"$seams" render -q -f "$profile" --target "$target" -d "$out/$example/$target" --force || [[ $? == 3 ]]
	done
done
find "$out" -type f | sort
