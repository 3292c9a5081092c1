#!/usr/bin/env bash
# The program that make build makes is below 60 MB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make -s build BIN="$tmp"
size=$(stat -c %s "$tmp/seams")
if ((size >= 60000000)); then
	echo "seams has $size bytes; less than 60,000,000 are wanted" >&2
	exit 1
fi
echo "seams has $size bytes"
