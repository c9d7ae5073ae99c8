#!/usr/bin/env bash
# From an empty folder to a compiled operator, with the time of each step.
# Called by `make demo` with operon on the PATH; needs bash, Go and awk besides.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$top/demo}

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
	"$@" | awk 'NR <= 6; END { if (NR > 6) print "... and " NR - 6 " more" }'
	local took=$(($(now) - start))
	printf '  (%d ms)\n' "$took"
	summary+=$(printf '%7d ms  %s' "$took" "$*")$'\n'
}

summary=
rm -rf "$dir/aerospike"
mkdir -p "$dir/aerospike"
cd "$dir/aerospike"

# The commands of the walk-through, with the user's edits where it makes them.
scenario=$top/testdata/scenarios/aerospike
while IFS= read -r line <&3; do
	case $line in
	'#'* | '') ;;
	EDIT)
		printf '\n# the user replaces the example field by those of a database cluster, and writes its rules\n'
		cp -R "$scenario/edits/." .
		;;
	'operon init '*)
		eval "step $line"
		(cd "$top/testdata/golden/aerospike" && go mod download)
		;;
	'operon create '*) eval "step $line" ;;
	esac
done 3<"$scenario/commands"
step operon generate
step go build ./...

printf '\n# the project\n'
find . -type f -not -path './.operon/*' | sed 's|^\./||' | sort

printf '\n# the CRD\n'
cat config/crd/bases/*.yaml

printf '\n# what it took; the operator is in %s\n%s' "$dir/aerospike" "$summary"
