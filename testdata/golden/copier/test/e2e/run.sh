#!/usr/bin/env bash
# Deploys the hooks to a cluster, as a user would, and runs the tests in the folder hooks.
# `make test-e2e` starts it. It never uses the current context.
#
#   E2E_CONTEXT  the context of a cluster in your kubeconfig. Without it, the tests run in
#                a kind cluster of their own.
#   E2E_IMAGE    an image that the cluster can pull. Without it, the image is built and
#                loaded into the kind cluster.
set -euo pipefail
shopt -s nullglob
cd "$(dirname -- "${BASH_SOURCE[0]}")/../.."

readonly namespace=copier-system deployment=copier-controller-manager
readonly own_cluster=copier-test-e2e
readonly context=${E2E_CONTEXT:-kind-$own_cluster}
work=$(mktemp -d)
readonly work
deployed=
namespaces=()

function fail() {
  echo "error: $*" >&2
  exit 1
}

# Functions for tests.

# create creates the object on stdin. It is deleted after the test.
function create() {
  local file
  file=$(mktemp "$work/created.XXXXXX")
  cat >"$file"
  kubectl create -f "$file" || {
    rm "$file"
    return 1
  }
}

# refused checks that the API server refuses the object on stdin, with a text in its error.
function refused() {
  local output
  if output=$(create 2>&1); then
    echo "the object was not refused" >&2
    return 1
  fi
  grep -F -- "$1" <<<"$output" >/dev/null || {
    echo "another error: $output" >&2
    return 1
  }
}

# eventually repeats a command until it succeeds, for up to a minute.
function eventually() {
  local deadline=$((SECONDS + 60))
  until "$@"; do
    if ((SECONDS >= deadline)); then
      echo "did not succeed within a minute: $*" >&2
      return 1
    fi
    sleep 1
  done
}

# logged checks that the log of the engine, which has the output of hooks, contains a text.
function logged() {
  kubectl logs "deployment/$deployment" -n "$namespace" | grep -F -- "$1" >/dev/null
}

# What the tests need.

function delete_created() {
  local file
  for file in "$work"/created.*; do
    kubectl delete --ignore-not-found --timeout 2m -f "$file"
    rm "$file"
  done
}

function cleanup() {
  local status=$?
  trap - EXIT
  set +e
  delete_created
  [[ -n $deployed ]] && make undeploy ignore-not-found=true
  ((${#namespaces[@]})) && kubectl delete namespace "${namespaces[@]}"
  [[ -z ${E2E_CONTEXT:-} ]] && kind delete cluster --name "$own_cluster"
  rm -rf "$work"
  exit "$status"
}

# use_cluster makes kubectl use a kubeconfig that has only the cluster for the tests.
function use_cluster() {
  if [[ -n ${E2E_CONTEXT:-} ]]; then
    kubectl config view --minify --flatten --context "$E2E_CONTEXT" >"$work/kubeconfig"
  else
    kind delete cluster --name "$own_cluster" # of an interrupted run
    kind create cluster --name "$own_cluster" --kubeconfig "$work/kubeconfig"
  fi
  export KUBECONFIG=$work/kubeconfig
  kubectl config set-context --current --namespace=default >/dev/null
}

function provide_image() {
  image=${E2E_IMAGE:-example.com/copier:e2e}
  if [[ -z ${E2E_IMAGE:-} ]]; then
    make docker-build IMG="$image"
    kind load docker-image "$image" --name "${context#kind-}"
  fi
}

function provide_cert_manager() {
  if ! grep -q '^- ../certmanager' config/default/kustomization.yaml || kubectl get crd certificates.cert-manager.io >/dev/null 2>&1; then
    return
  fi
  [[ -z ${E2E_CONTEXT:-} ]] || fail "install cert-manager into the cluster first"
  kubectl apply -f https://github.com/cert-manager/cert-manager/releases/download/v1.21.1/cert-manager.yaml
  kubectl wait deployment/cert-manager-webhook -n cert-manager --for condition=Available --timeout 5m
}

function deploy() {
  local used name
  used=$(kubectl get -k config/default --ignore-not-found -o name)
  [[ -z $used ]] || fail "the tests would delete these objects; if you do not need them, run make undeploy: $used"
  # The hooks get roles in the namespaces that they watch.
  for name in $(kubectl kustomize config/default | awk '/^  namespace: / {print $2}' | sort -u); do
    if [[ $name != "$namespace" ]] && ! kubectl get namespace "$name" >/dev/null 2>&1; then
      kubectl create namespace "$name"
      namespaces+=("$name")
    fi
  done
  deployed=yes
  if grep -q '^- ../webhook' config/default/kustomization.yaml && ! grep -q '^- ../certmanager' config/default/kustomization.yaml; then
    make certificate
  fi
  make deploy IMG="$image"
  kubectl rollout status "deployment/$deployment" -n "$namespace" --timeout 5m
}

function run_tests() {
  local test status failed=0
  for test in test/e2e/hooks/*.sh; do
    set +e # in a condition, a failed command would not end the test
    (
      set -e
      source "$test"
    )
    status=$?
    set -e
    delete_created
    if ((status == 0)); then
      echo "ok      $test"
    else
      echo "FAILED  $test"
      failed=1
    fi
  done
  if ((failed)); then
    kubectl get pods,events -n "$namespace"
    kubectl logs "deployment/$deployment" -n "$namespace" --tail 200
  fi
  return "$failed"
}

if [[ -z ${E2E_IMAGE:-} && $context != kind-* ]]; then
  fail "$context is not a kind cluster: set E2E_IMAGE to an image that it can pull"
fi
trap cleanup EXIT
use_cluster
provide_image
provide_cert_manager
deploy
run_tests
