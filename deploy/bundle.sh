#!/bin/sh
# Usage: deploy/bundle.sh OUT [EXTRA,EXTRA...], from the root of the repository.
# Fetches what requirements.lock names, checks the hashes, builds mixbayes with it, and leaves in OUT the wheels that an
# installation needs, with their checksums. Run it with the Python version and on the kind of machine that OUT is for.
set -eu
out=${1:?"name the folder to make"}
extras=${2:-}
python=${PYTHON:-python3}
[ -e "$out" ] && { echo "$out is there already; name another folder" >&2; exit 1; }
all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
"$python" -m pip download --quiet --require-hashes --only-binary :all: --dest "$all" -r requirements.lock
"$python" -m pip wheel --quiet --no-index --find-links "$all" --no-deps --wheel-dir "$all" .
"$python" -m pip download --quiet --no-index --find-links "$all" --dest "$out" "mixbayes${extras:+[$extras]}"
cd "$out"
sha256sum ./*.whl > SHA256SUMS
echo "$(ls ./*.whl | wc -l) wheels in $out" >&2
