#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: secrets
  apiVersion: v1
  kind: Secret
  jqFilter: '{namespace: .metadata.namespace, name: .metadata.name, resourceVersion: .metadata.resourceVersion}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  queue: secrets
YAML
}

# Runs when the engine starts, with the existing Secret objects.
function __on_kubernetes::secrets::synchronization() {
  echo "secrets at the start: $(context::jq '.objects | length')"
}

# Runs when a Secret is added or modified.
function __on_kubernetes::secrets::added_or_modified() {
  echo "secrets: $(context::jq -r '"\(.watchEvent) \(.filterResult)"')"
}

# Runs when a Secret is deleted.
function __on_kubernetes::secrets::deleted() {
  echo "secrets: $(context::jq -r '"\(.watchEvent) \(.filterResult)"')"
}

hook::run "$@"
