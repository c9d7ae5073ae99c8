#!/usr/bin/env bash
# Restarts a Deployment when its configuration changed: a ConfigMap with the label
# reload=NAME puts a checksum of its content on the pod template of that Deployment.
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

# ConfigMaps at the start, or one that is new or changed. A checksum that is there already
# changes nothing, so no pod is restarted for it.
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
