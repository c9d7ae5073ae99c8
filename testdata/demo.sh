#!/usr/bin/env bash
# Scaffolds an operator in an empty folder, runs it on a real API server, and times each
# step. `make demo` calls it with operon on PATH; it also needs bash, Go and awk. When it is
# interrupted, it stops the servers that it has started.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$top/demo}

# now sets $now to the time in milliseconds; bash before version 5 knows only seconds. It
# does not print the time, because bash 5.2 reports an error for Ctrl-C at the start of
# $(...).
now() {
	local t=${EPOCHREALTIME:-$(date +%s).000000}
	t=${t/[.,]/}
	now=${t%???}
}

# took sets $took to the milliseconds since $1, and adds a line about $2 to the summary.
took() {
	local line
	now
	took=$((now - $1))
	printf -v line '%7d ms  %s\n' "$took" "$2"
	summary+=$line
}

# step prints a command, runs it with short output, and prints how long it took.
step() {
	now
	local start=$now
	local line='' word
	for word; do
		case $word in *[[:space:]]*) word="\"$word\"" ;; esac
		line+="${line:+ }$word"
	done
	printf '\n$ %s\n' "$line"
	"$@" | awk 'NR <= 6; END { if (NR > 6) print "... and " NR - 6 " more" }'
	took "$start" "$line"
	printf '  (%d ms)\n' "$took"
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
		printf '\n# the user replaces the example field by the fields of a database cluster, and writes rules\n'
		cp -R "$scenario/edits/." .
		;;
	'operon init '*)
		eval "step $line"
		# Downloads the modules, unless they are in the module cache.
		(cd "$top/testdata/golden/aerospike" && go mod download)
		;;
	'operon create '*) eval "step $line" ;;
	'rm '*) $line ;;
	'git apply '*) GIT_CEILING_DIRECTORIES=$dir $line ;; # not relative to the repository of operon
	esac
done 3<"$scenario/commands"
step operon generate
step go build -o bin/manager ./cmd

printf '\n# the files of the project, by folder\n'
find . -type f -not -path './.operon/*' -not -path './bin/*' | sed 's|^\./||' |
	awk -F/ '{ count[NF > 1 ? $1 "/" : "."]++ } END { for (folder in count) printf "%4d  %s\n", count[folder], folder }' | sort -k 2

# finish stops everything and exits with status $1: at the end, after an error, or after
# Ctrl-C.
plane=demo-$$ manager=
finish() {
	local status=$1
	trap '' INT TERM
	trap - EXIT
	set +e # stop the rest even if a command fails
	if [ -n "$manager" ]; then
		kill "$manager" 2>/dev/null
		wait "$manager"
		[ "$status" -eq 0 ] || tail -n 20 manager.log # it may not exist yet
	fi
	unset KUBECONFIG # it belongs to this script: envtest stop must not mention it
	operon envtest stop --name "$plane"
	exit "$status"
}
trap 'finish $?' EXIT
trap 'finish 130' INT # not by exit: while a child process starts, bash 5.2 ignores the trap for EXIT
trap 'finish 143' TERM

printf '\n# start an API server with controllers and without nodes\n'
now
start=$now
printf '$ operon envtest start --detach --controllers --name %s\n' "$plane"
KUBECONFIG=$(operon envtest start --detach --controllers --name "$plane")
export KUBECONFIG
took "$start" 'operon envtest start --detach --controllers'
programs=$(operon envtest path)
kubectl() { "$programs/kubectl" "$@"; }
step kubectl apply --server-side -f config/crd/bases
step kubectl wait --for condition=Established crd --all

printf '\n# the operator, as the administrator of that kubeconfig, and without its webhooks, for\n'
printf '# which the API server would need a certificate: it checks the schema, not the rules\n'
printf '$ ENABLE_WEBHOOKS=false bin/manager &\n'
ENABLE_WEBHOOKS=false bin/manager --health-probe-bind-address 0 >manager.log 2>&1 &
manager=$!
sample=config/samples/aerospike_v1alpha1_aerospikecluster.yaml
step kubectl apply -f "$sample"
now
start=$now
# One by one: kubectl gives up at once when several of them do not exist yet.
for object in statefulset/aerospikecluster-sample configmap/aerospikecluster-sample pod/aerospikecluster-sample-0; do
	kubectl wait --for create --timeout 2m "$object" >/dev/null
done
took "$start" 'until StatefulSet, ConfigMap and pods are there'
printf '\n$ kubectl get aerospikeclusters,statefulsets,configmaps,pods\n'
kubectl get aerospikeclusters,statefulsets,configmaps,pods
printf '# (no nodes: the pods stay pending)\n'

printf '\n# what it took\n%s\n' "$summary"
printf 'The operator is in %s. Read its README.md, and config/crd/bases for its API.\n\n' "$dir/aerospike"
