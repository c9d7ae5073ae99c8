#!/usr/bin/env bash
# Say here what this hook looks after.
source "$(dirname -- "${BASH_SOURCE[0]}")/../../global-hooks/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
onStartup: 5
beforeAll: 10
schedule:
- name: daily
  crontab: '@daily'
YAML
}

# Values are in the JSON file VALUES_PATH, below .global, and what users set in
# CONFIG_VALUES_PATH. To change a value for as long as the operator runs:
#
#   jq -n --arg found "x" '{op: "add", path: "/global/internal/found", value: $found}' >>"${VALUES_JSON_PATCH_PATH}"
#
# and to store it in the ConfigMap, where it outlives the operator, write into
# CONFIG_VALUES_JSON_PATCH_PATH.
function __main__() {
  echo "domain: ${BINDING_CONTEXT_CURRENT_BINDING}"
}

hook::run "$@"
