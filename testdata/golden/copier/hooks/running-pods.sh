#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: pods
  apiVersion: v1
  kind: Pod
  labelSelector:
    matchExpressions:
    - key: app
      operator: In
      values: [api, web]
    - key: legacy
      operator: DoesNotExist
  fieldSelector:
    matchExpressions:
    - field: spec.nodeName
      operator: Equals
      value: "node-1"
  namespace:
    nameSelector:
      matchNames: [team-a, team-b]
  executeHookOnEvent: [Added, Deleted]
YAML
}

# Runs when the engine starts, with the existing Pod objects.
function __on_kubernetes::pods::synchronization() {
  echo "pods at the start: $(context::jq '.objects | length')"
}

# Runs when a Pod is added.
function __on_kubernetes::pods::added() {
  echo "pods: $(context::jq -r '"\(.watchEvent) \(.object.metadata | [.namespace // empty, .name] | join("/"))"')"
}

# Runs when a Pod is deleted.
function __on_kubernetes::pods::deleted() {
  echo "pods: $(context::jq -r '"\(.watchEvent) \(.object.metadata | [.namespace // empty, .name] | join("/"))"')"
}

hook::run "$@"
