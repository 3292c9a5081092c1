#!/usr/bin/env bash
# usage: fuzz.sh TIME
# Runs every fuzz target of the module for TIME each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git grep -l '^func Fuzz' -- '*_test.go' | while read -r file; do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "== $(dirname "$file") $target"
		go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 1x
	done
done
