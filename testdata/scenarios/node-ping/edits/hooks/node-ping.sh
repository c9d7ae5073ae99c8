#!/usr/bin/env bash
# Pings the nodes every minute, and reports how many of 5 packets each of them has lost.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetes:
- name: nodes
  apiVersion: v1
  kind: Node
  jqFilter: '{name: .metadata.name, ip: (.status.addresses // [] | map(select(.type == "InternalIP"))[0].address)}'
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

# Pings all nodes at the same time, so that no node has to wait for another one.
function __on_schedule::tick() {
  context::jq -r '.snapshots.nodes[].filterResult | select(.ip) | "\(.name) \(.ip)"' | {
    while read -r node ip; do
      ping_node "${node}" "${ip}" &
    done
    wait
  } >>"${METRICS_PATH}"
}

# ping_node NODE IP prints the metric of a node. Without output of ping, all packets are lost.
function ping_node() {
  local lost
  lost="$(ping -q -c 5 -w 10 "$2" | awk '/packets transmitted/ {print $1 - $4}')" || true
  jq -n -c --arg node "$1" --arg ip "$2" --arg lost "${lost:-5}" \
    '{name: "node_packets_lost", action: "set", value: ($lost | tonumber), labels: {node: $node, ip: $ip}}'
}

hook::run "$@"
