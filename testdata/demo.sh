#!/usr/bin/env bash
# From an empty folder to an operator at work on a real API server, with the time
# of each step. Called by `make demo` with operon on the PATH; needs bash, Go and awk
# besides. Whatever ends it early, the servers that it started end too.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$top/demo}

# now sets $now to milliseconds; a bash older than 5 knows only seconds. It prints
# nothing, for a Ctrl-C while bash enters a $(...) there is an error to bash 5.2.
now() {
	local t=${EPOCHREALTIME:-$(date +%s).000000}
	t=${t/[.,]/}
	now=${t%???}
}

# took sets $took to the milliseconds since $1, and notes them for $2.
took() {
	local line
	now
	took=$((now - $1))
	printf -v line '%7d ms  %s\n' "$took" "$2"
	summary+=$line
}

# step says what runs, runs it quietly, and says how long it took.
step() {
	now
	local start=$now
	printf '\n$ %s\n' "$*"
	"$@" | awk 'NR <= 6; END { if (NR > 6) print "... and " NR - 6 " more" }'
	took "$start" "$*"
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
		printf '\n# the user replaces the example field by those of a database cluster, and writes its rules\n'
		cp -R "$scenario/edits/." .
		;;
	'operon init '*)
		eval "step $line"
		printf '\n# the modules that it needs are fetched, unless they are here\n'
		(cd "$top/testdata/golden/aerospike" && go mod download)
		;;
	'operon create '*) eval "step $line" ;;
	esac
done 3<"$scenario/commands"
step operon generate
step go build -o bin/manager ./cmd

printf '\n# the project\n'
find . -type f -not -path './.operon/*' | sed 's|^\./||' | sort

printf '\n# the CRD\n'
cat config/crd/bases/*.yaml

# Everything is ended on the way out, with the status $1: by Ctrl-C, by an error, or
# when it is done.
plane=demo-$$ manager=
finish() {
	local status=$1
	trap '' INT TERM
	trap - EXIT
	set +e # whatever fails here, the rest is to end too
	if [ -n "$manager" ]; then
		kill "$manager" 2>/dev/null
		wait "$manager"
		[ "$status" -eq 0 ] || tail -n 20 manager.log # which may not be there yet
	fi
	unset KUBECONFIG # of this script alone: nobody has to be reminded of it
	operon envtest stop --name "$plane"
	exit "$status"
}
trap 'finish $?' EXIT
trap 'finish 130' INT # not by exit: where it comes while a child starts, bash 5.2 forgets the trap of EXIT
trap 'finish 143' TERM

printf '\n# an API server of its own, with controllers and without nodes\n'
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

printf '\n# what it took; the operator is in %s\n%s' "$dir/aerospike" "$summary"
