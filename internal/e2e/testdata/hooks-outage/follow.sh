#!/usr/bin/env bash
# Prints the objects that exist.
if [ "$1" = --config ]; then
  cat <<'CONF'
configVersion: v1
kubernetes:
- {name: maps, kind: ConfigMap, labelSelector: {matchLabels: {outage: e2e}}, jqFilter: .data.of, includeSnapshotsFrom: [maps]}
kubernetesValidating:
- name: maps.outage.example.org
  rules:
  - {apiGroups: [""], apiVersions: [v1], resources: [secrets], operations: [CREATE], scope: Namespaced}
CONF
  exit
fi
if jq -e '.[0].type == "Validating"' "$BINDING_CONTEXT_PATH" > /dev/null; then
  echo '{"allowed": false, "message": "no secrets here"}' > "$VALIDATING_RESPONSE_PATH"
  exit
fi
jq -r '.[-1].snapshots.maps | map("\(.object.metadata.name)=\(.filterResult)") | "there: " + join(" ")' "$BINDING_CONTEXT_PATH"
