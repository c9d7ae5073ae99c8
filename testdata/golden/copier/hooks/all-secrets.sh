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
  # Contexts have filterResult, and no object.
  keepFullObjectsInMemory: false
  queue: secrets
YAML
}

# These are the objects of Secret when the engine starts.
function __on_kubernetes::secrets::synchronization() {
  echo "secrets at the start: $(context::jq '.objects | length')"
}

# A Secret is new, or changed.
function __on_kubernetes::secrets::added_or_modified() {
  echo "secrets: $(context::jq -r '"\(.watchEvent) \(.filterResult)"')"
}

# A Secret is gone.
function __on_kubernetes::secrets::deleted() {
  echo "secrets: $(context::jq -r '"\(.watchEvent) \(.filterResult)"')"
}

hook::run "$@"
