#!/usr/bin/env bash
# Regenerates the tables of package target in a scratch directory and fails when
# they differ from those in the repository. MINORS and ETCDS restrict it as they
# do update-minors.sh; the tables of other versions are then left out of the diff.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
hack/update-minors.sh "$scratch"
if [[ -z ${MINORS+x} && -z ${ETCDS+x} ]]; then
	diff -r internal/target/data "$scratch"
	exit
fi
for table in "$scratch"/*; do
	diff -r "internal/target/data/${table##*/}" "$table"
done
