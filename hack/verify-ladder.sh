#!/usr/bin/env bash
# internal/recipe/data/ladder.jsonl.gz is what schemas and recipes evaluate to.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go test ./internal/recipe -run 'TestTable'
