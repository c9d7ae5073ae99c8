#!/usr/bin/env bash
source /shell_lib.sh

__config__() {
  cat <<'CONF'
configVersion: v1
kubernetes:
- name: src_secret
  kind: Secret
  group: main
  nameSelector: {matchNames: [mysecret]}
  namespace: {nameSelector: {matchNames: [default]}}
- name: namespaces
  kind: Namespace
  group: main
  jqFilter: '{namespace: .metadata.name, hasLabel: (.metadata.labels // {} | contains({"secret": "yes"}))}'
  keepFullObjectsInMemory: false
- name: dst_secrets
  kind: Secret
  group: main
  labelSelector: {matchLabels: {managed-secret: "yes"}}
  jqFilter: '{namespace: .metadata.namespace, resourceVersion: .metadata.resourceVersion}'
  keepFullObjectsInMemory: false
CONF
}

__on_group::main() {
  if ! context::has 'snapshots.src_secret.0'; then
    echo "no source"
    return
  fi
  local ns
  for ns in $(context::jq -r '.snapshots.namespaces[].filterResult | select(.hasLabel) | .namespace'); do
    context::jq -c --arg ns "$ns" '.snapshots.src_secret[0].object | {operation: "CreateOrUpdate", object: {apiVersion, kind, data, metadata: {name: .metadata.name, namespace: $ns, labels: {"managed-secret": "yes"}}}}' >> "$KUBERNETES_PATCH_PATH"
  done
  for ns in $(context::jq -r '.snapshots.namespaces[].filterResult | select(.hasLabel | not) | .namespace'); do
    if context::jq -e --arg ns "$ns" 'any(.snapshots.dst_secrets[]; .filterResult.namespace == $ns)' >/dev/null; then
      jq -nc --arg ns "$ns" '{operation: "DeleteInBackground", kind: "Secret", name: "mysecret", namespace: $ns}' >> "$KUBERNETES_PATCH_PATH"
    fi
  done
}

hook::run "$@"
