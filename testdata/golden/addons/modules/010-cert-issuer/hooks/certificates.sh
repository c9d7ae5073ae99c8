#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/../../../global-hooks/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
beforeHelm: 10
afterDeleteHelm: 20
kubernetes:
- name: nodes
  apiVersion: v1
  kind: Node
YAML
}

# Values are in the JSON file VALUES_PATH, below .certIssuer; those that users set are in
# CONFIG_VALUES_PATH. To change a value until the operator restarts:
#
#   jq -n --arg found "x" '{op: "add", path: "/certIssuer/internal/found", value: $found}' >>"${VALUES_JSON_PATCH_PATH}"
#
# To store it in the ConfigMap, write to CONFIG_VALUES_JSON_PATCH_PATH.

# Runs when the engine starts, with the existing Node objects.
function __on_kubernetes::nodes::synchronization() {
  echo "nodes at the start: $(context::jq '.objects | length')"
}

# Runs when a Node is added or modified.
function __on_kubernetes::nodes::added_or_modified() {
  echo "nodes: $(context::jq -r '"\(.watchEvent) \(.object.metadata | [.namespace // empty, .name] | join("/"))"')"
}

# Runs when a Node is deleted.
function __on_kubernetes::nodes::deleted() {
  echo "nodes: $(context::jq -r '"\(.watchEvent) \(.object.metadata | [.namespace // empty, .name] | join("/"))"')"
}

# Runs at steps of addon-operator. The name of the binding is the step.
function __main__() {
  echo "certificates: ${BINDING_CONTEXT_CURRENT_BINDING}"
}

hook::run "$@"
