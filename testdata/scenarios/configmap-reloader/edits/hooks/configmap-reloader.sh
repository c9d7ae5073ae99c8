#!/usr/bin/env bash
# Restarts a Deployment when its configuration changes: the hook writes a checksum of each
# ConfigMap with the label reload=NAME to the pod template of the Deployment NAME.
# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=patch
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: configmaps
  apiVersion: v1
  kind: ConfigMap
  labelSelector:
    matchExpressions:
    - key: reload
      operator: Exists
  jqFilter: '{namespace: .metadata.namespace, name: .metadata.name, deployment: .metadata.labels.reload, data, binaryData}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  executeHookOnEvent: [Added, Modified]
YAML
}

# Handles all ConfigMaps at the start, and later new and changed ones. An unchanged checksum
# restarts no pods.
function __on_kubernetes::configmaps() {
  context::jq -c '(.objects // [.])[].filterResult' | while IFS= read -r configmap; do
    jq -c --arg checksum "$(jq -cS '[.data, .binaryData]' <<<"${configmap}" | sha256sum | cut -c -16)" '{
      operation: "MergePatch",
      apiVersion: "apps/v1",
      kind: "Deployment",
      namespace: .namespace,
      name: .deployment,
      ignoreMissingObject: true,
      mergePatch: {spec: {template: {metadata: {annotations: {("configmap-checksum/" + .name): $checksum}}}}}
    }' <<<"${configmap}"
  done >"${KUBERNETES_PATCH_PATH}"
}

hook::run "$@"
