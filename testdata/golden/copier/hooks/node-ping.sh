#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
onStartup: 10
kubernetes:
- name: nodes
  apiVersion: v1
  kind: Node
  jqFilter: .status.addresses
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  # Only a snapshot for other bindings: these objects do not trigger the hook.
  executeHookOnSynchronization: false
  executeHookOnEvent: []
schedule:
- name: tick
  crontab: "* * * * *"
  includeSnapshotsFrom: [nodes]
YAML
}

# Runs when the engine starts.
function __on_startup() {
  echo "node-ping: started"
}

# Runs on the schedule * * * * *.
function __on_schedule::tick() {
  echo "tick: $(context::jq -r '.snapshots // {} | to_entries | map("\(.key) \(.value | length)") | join(", ")')"
}

hook::run "$@"
