#!/usr/bin/env bash
# Runs the operator that project.sh has built in FOLDER/aerospike on an API server, and times each step.
# When it is interrupted, it stops the servers that it has started. `make demo-server` calls it with the
# command that builds operon.
#
# usage: server.sh FOLDER [COMMAND THAT BUILDS OPERON...]
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/testdata/demo/steps.sh"
dir=$1/aerospike
shift
if [ ! -x "$dir/bin/manager" ]; then
	echo "error: $dir has no operator: run make demo first" >&2
	exit 1
fi
[ $# -eq 0 ] || step "$@"
cd "$dir"

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

# refused is step for a command that the API server must refuse.
refused() {
	if step "$@" 2>&1; then
		echo 'error: the API server accepted it' >&2
		return 1
	fi
}

note 'Start an API server with controllers and without nodes. operon builds the programs that are not' \
	'installed; for all of them, this takes about 8 minutes on two cores.'
printf '\n$ operon envtest start --detach --controllers --name %s\n' "$plane"
now
start=$now
KUBECONFIG=$(operon envtest start --detach --controllers --name "$plane")
export KUBECONFIG
took "$start" 'operon envtest start --detach --controllers'
programs=$(operon envtest path)
kubectl() { "$programs/kubectl" "$@"; }
step kubectl apply --server-side -f config/crd/bases
step kubectl wait --for condition=Established crd --all

port=$((30000 + $$ % 2000)) # the default, 9443, may be in use
note 'Run the operator. operon makes a certificate for it and registers its webhooks.'
printf '\n$ operon envtest run -- bin/manager --webhook-port=%d &\n' "$port"
operon envtest run -- bin/manager --webhook-port=$port --health-probe-bind-address=0 >manager.log 2>&1 &
manager=$!
step kubectl wait --for create --timeout 1m validatingwebhookconfiguration/aerospike-validating-webhook-configuration

note 'Apply the sample. The operator creates a StatefulSet and a ConfigMap for it.'
step kubectl apply -f config/samples/aerospike_v1alpha1_aerospikecluster.yaml
now
start=$now
# One by one: kubectl gives up at once when several of them do not exist yet.
for object in statefulset/aerospikecluster-sample configmap/aerospikecluster-sample pod/aerospikecluster-sample-0; do
	kubectl wait --for create --timeout 2m "$object"
done
took "$start" 'until StatefulSet, ConfigMap and pods exist'
printf '\n$ kubectl get aerospikeclusters,statefulsets,configmaps,pods\n'
kubectl get aerospikeclusters,statefulsets,configmaps,pods
printf '# (no nodes: the pods stay pending)\n'

note 'The mutating webhook sets the default of a missing field, and the validating webhook refuses more' \
	'copies than nodes. The schema in the CRD refuses a compression level above 9.'
patch=(kubectl patch aerospikeclusters aerospikecluster-sample --type merge -p)
step "${patch[@]}" '{"spec":{"heartbeat":null}}' -o 'jsonpath={.spec.heartbeat}{"\n"}'
refused "${patch[@]}" '{"spec":{"replicationFactor":5}}'
refused "${patch[@]}" '{"spec":{"compressionLevel":12}}'

print_summary
