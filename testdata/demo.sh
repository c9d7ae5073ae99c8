#!/usr/bin/env bash
# From an empty folder to a compiled operator, with the time of each step.
# Called by `make demo`; needs only bash, Go and make.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$top/demo}
export PATH="$top/bin:$PATH"

# now prints milliseconds; a bash older than 5 knows only seconds.
now() {
	local t=${EPOCHREALTIME:-$(date +%s).000000}
	t=${t/[.,]/}
	echo "${t%???}"
}

# step says what runs, runs it quietly, and says how long it took.
step() {
	local start
	start=$(now)
	printf '\n$ %s\n' "$*"
	"$@" | { head -n 6; cat >/dev/null; }
	local took=$(($(now) - start))
	printf '  (%d ms)\n' "$took"
	summary+=$(printf '%7d ms  %s' "$took" "$*")$'\n'
}

summary=
rm -rf "$dir/aerospike"
mkdir -p "$dir/aerospike"
cd "$dir/aerospike"

step operon init --domain dzolotov.tech --owner "Dmitrii Zolotov"
(cd "$top/testdata/golden/aerospike" && go mod download)
step operon create api --group aerospike --version v1alpha1 --kind AerospikeCluster --resource --controller

printf '\n# the user replaces the example field by those of a database cluster\n'
cp -R "$top/testdata/scenarios/aerospike/edits/." .
step operon generate
step go build ./...

printf '\n# the project\n'
find . -type f -not -path './.operon/*' | sed 's|^\./||' | sort

printf '\n# the CRD\n'
cat config/crd/bases/*.yaml

printf '\n# what it took; the operator is in %s\n%s' "$dir/aerospike" "$summary"
