#!/usr/bin/env bash
# Renders the report page of each example and looks at it in headless Chromium:
# light, dark, on a phone and on paper, with axe-core. Pictures stay below
# out/report. Chromium is Debian's package, CHROMIUM names another one.
set -euo pipefail
cd "$(dirname "$0")/.."
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ]; then
	echo "report-test: no chromium: install Debian's package chromium, or name one with CHROMIUM=PATH" >&2
	exit 2
fi
if ! command -v npm >/dev/null; then
	echo "report-test: no npm: install Debian's packages nodejs and npm" >&2
	exit 2
fi
out=${OUT:-out}/report
mkdir -p "$out"
out=$(cd "$out" && pwd)
# The packages are kept beside the pictures, so that the tree stays clean.
cp e2e/report/package.json e2e/report/report.mjs "$out/"
if [ ! -d "$out/node_modules/axe-core" ] || [ ! -d "$out/node_modules/puppeteer-core" ]; then
	(cd "$out" && npm install --no-package-lock --no-audit --no-fund --silent)
fi
pages=()
for name in agents platform starter training-15k training-100k; do
	status=0
	"${SEAMS:-bin/seams}" report "recipes/examples/$name.cue" -o "$out/$name.html" --force -q || status=$?
	[ "$status" -eq 0 ] || { echo "report-test: $name: exit $status" >&2; exit 1; }
	pages+=("$out/$name.html")
done
node "$out/report.mjs" "$chromium" "$out" "${pages[@]}"
