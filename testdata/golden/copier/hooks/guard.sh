#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: crontabs
  apiVersion: stable.example.org/v1
  kind: CronTab
  # Only a snapshot for other bindings: these objects do not trigger the hook.
  executeHookOnSynchronization: false
  executeHookOnEvent: []
kubernetesValidating:
- name: validate-crontabs.guard.example.org
  includeSnapshotsFrom: [crontabs]
  rules:
  - apiGroups: ["stable.example.org"]
    apiVersions: [v1]
    resources: [crontabs]
    operations: [CREATE, UPDATE]
    scope: Namespaced
kubernetesMutating:
- name: mutate-crontabs.guard.example.org
  includeSnapshotsFrom: [crontabs]
  rules:
  - apiGroups: ["stable.example.org"]
    apiVersions: [v1]
    resources: [crontabs]
    operations: [CREATE, UPDATE]
    scope: Namespaced
YAML
}

# Runs before the API server stores a CronTab.
function __on_validating::validate-crontabs.guard.example.org() {
  # To reject the request: jq -n --arg message "why" '{allowed: false, message: $message}'
  jq -n '{allowed: true}' >"${ADMISSION_RESPONSE_PATH}"
}

# Runs before the API server stores a CronTab.
function __on_mutating::mutate-crontabs.guard.example.org() {
  # To change the object, add to the response: patch: ([{op: "add", path: "/spec/size", value: 1}] | tojson | @base64)
  jq -n '{allowed: true}' >"${ADMISSION_RESPONSE_PATH}"
}

hook::run "$@"
