#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: source
  apiVersion: v1
  kind: Secret
  nameSelector:
    matchNames: [mysecret]
  namespace:
    nameSelector:
      matchNames: [default]
  group: main
- name: namespaces
  apiVersion: v1
  kind: Namespace
  jqFilter: '{name: .metadata.name, wanted: (.metadata.labels.secret == "yes")}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
- name: copies
  apiVersion: v1
  kind: Secret
  labelSelector:
    matchLabels:
      managed-secret: "yes"
  jqFilter: '{namespace: .metadata.namespace, version: .metadata.resourceVersion}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
YAML
}

# Runs for each binding of the group main, with the snapshots of all of them.
function __on_group::main() {
  echo "main: $(context::jq -r '.snapshots | to_entries | map("\(.key) \(.value | length)") | join(", ")')"
}

hook::run "$@"
