#!/usr/bin/env bash
# Fails twice, and then until the other hook has received the second object.
if [ "$1" = --config ]; then
  cat <<'CONF'
configVersion: v1
kubernetes:
- {name: maps, kind: ConfigMap, labelSelector: {matchLabels: {retry: e2e}}, executeHookOnEvent: [Added]}
CONF
  exit
fi
grep -q Synchronization "$BINDING_CONTEXT_PATH" && exit
jq -r '[.[].object.metadata.name] | join(" ")' "$BINDING_CONTEXT_PATH" >> "$STATE/stubborn"
[ "$(wc -l < "$STATE/stubborn")" -gt 2 ] && grep -q second "$STATE/patient"
