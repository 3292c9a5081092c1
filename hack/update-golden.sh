#!/usr/bin/env bash
# Rewrites golden directories and transcripts, and shows what changed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for pkg in $(git grep -l 'seams/internal/golden"' -- '*_test.go' | xargs -n1 dirname | sort -u); do
	go test "./$pkg" -update >/dev/null
done
SEAMS_UPDATE=1 go test ./e2e -run TestScripts >/dev/null
git status --short
