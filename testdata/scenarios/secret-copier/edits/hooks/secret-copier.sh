#!/usr/bin/env bash
# Copies the Secret mysecret of the namespace default into each namespace with the label
# secret=yes, updates the copies and deletes them.
# +kubebuilder:rbac:groups="",resources=secrets,verbs=create
# +kubebuilder:rbac:groups="",resources=secrets,resourceNames=mysecret,verbs=delete;get;update
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: src_secret
  apiVersion: v1
  kind: Secret
  nameSelector:
    matchNames: [mysecret]
  namespace:
    nameSelector:
      matchNames: [default]
  jqFilter: '{type, data}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
- name: namespaces
  apiVersion: v1
  kind: Namespace
  jqFilter: '{name: .metadata.name, hasLabel: (.metadata.labels.secret == "yes" and .metadata.deletionTimestamp == null)}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
- name: dst_secrets
  apiVersion: v1
  kind: Secret
  nameSelector:
    matchNames: [mysecret]
  labelSelector:
    matchLabels:
      managed-secret: "yes"
  jqFilter: '{namespace: .metadata.namespace, type, data}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
YAML
}

# Runs when an object of the group changes and when the engine starts. Compares the snapshots
# with the desired copies, and patches the differences.
function __on_group::main() {
  context::jq -c '
    .snapshots.src_secret[0].filterResult as $source
    | (.snapshots.dst_secrets | map(.filterResult) | INDEX(.namespace)) as $copies
    | .snapshots.namespaces[].filterResult
    | select(.name != "default")
    | $copies[.name] as $copy
    # The type of a Secret is immutable: delete a copy of another type first.
    | if .hasLabel and $source and ($copy == null or $copy.type == $source.type) then
        select($copy == null or $copy.data != $source.data)
        | {
            operation: "CreateOrUpdate",
            object: {
              apiVersion: "v1",
              kind: "Secret",
              metadata: {namespace: .name, name: "mysecret", labels: {"managed-secret": "yes"}},
              type: $source.type,
              data: $source.data
            }
          }
        # Do not change a Secret with that name that is not a copy.
        | if $copy then . else .operation = "CreateIfNotExists" end
      elif $copy then
        {operation: "DeleteInBackground", apiVersion: "v1", kind: "Secret", namespace: .name, name: "mysecret"}
      else empty end
  ' >"${KUBERNETES_PATCH_PATH}"
}

hook::run "$@"
