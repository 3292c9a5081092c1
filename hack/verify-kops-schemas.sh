#!/usr/bin/env bash
# schemas/kops and the checker's schemas are what the kept kOps definitions give.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go test ./hack/kopsschema
