#!/usr/bin/env bash
# Writes internal/recipe/data/ladder.jsonl.gz: the ladder as CUE evaluates it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
go run ./hack/ladder >"$tmp"
cat "$tmp" >internal/recipe/data/ladder.jsonl.gz
