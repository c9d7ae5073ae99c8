#!/usr/bin/env bash
# Always fails, with allowFailure.
if [ "$1" = --config ]; then
  cat <<'CONF'
configVersion: v1
kubernetes:
- {name: maps, kind: ConfigMap, labelSelector: {matchLabels: {retry: e2e}}, executeHookOnEvent: [Added], queue: other, allowFailure: true}
CONF
  exit
fi
grep -q Synchronization "$BINDING_CONTEXT_PATH" && exit
jq -r '.[].object.metadata.name' "$BINDING_CONTEXT_PATH" >> "$STATE/patient"
exit 1
