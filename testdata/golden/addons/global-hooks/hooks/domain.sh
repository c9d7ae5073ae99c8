#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/../../global-hooks/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
onStartup: 5
beforeAll: 10
schedule:
- name: daily
  crontab: "@daily"
YAML
}

# Values are in the JSON file VALUES_PATH, below .global; those that users set are in
# CONFIG_VALUES_PATH. To change a value until the operator restarts:
#
#   jq -n --arg found "x" '{op: "add", path: "/global/internal/found", value: $found}' >>"${VALUES_JSON_PATCH_PATH}"
#
# To store it in the ConfigMap, write to CONFIG_VALUES_JSON_PATCH_PATH.

# Runs when the engine starts.
function __on_startup() {
  echo "domain: started"
}

# Runs on the schedule @daily.
function __on_schedule::daily() {
  echo "daily: $(context::jq -r '.snapshots // {} | to_entries | map("\(.key) \(.value | length)") | join(", ")')"
}

# Runs at steps of addon-operator. The name of the binding is the step.
function __main__() {
  echo "domain: ${BINDING_CONTEXT_CURRENT_BINDING}"
}

hook::run "$@"
