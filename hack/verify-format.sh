#!/usr/bin/env bash
# Go and CUE sources are formatted as their tools format them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [[ -n $unformatted ]]; then
	echo "not formatted; run gofmt -w:" $unformatted >&2
	exit 1
fi
