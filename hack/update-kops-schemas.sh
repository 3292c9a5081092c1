#!/usr/bin/env bash
# usage: update-kops-schemas.sh [DIR]
# Regenerates schemas/kops and the checker's schemas from the kept definitions
# of kOps. With DIR, which holds vX.Y.Z/{clusters,instancegroups}.yaml (in kOps'
# own tree: k8s/crds/kops.k8s.io_*.yaml), those replace the kept ones first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go run ./hack/kopsschema ${1:+-import "$1"}
