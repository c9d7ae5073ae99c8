#!/usr/bin/env bash
source /shell_lib.sh

__config__() {
  cat <<'CONF'
configVersion: v1
schedule:
- name: tick
  crontab: "* * * * * *"
  queue: clock
kubernetesValidating:
- name: names.ships.example.org
  namespace: {labelSelector: {matchLabels: {hooks: e2e}}}
  rules:
  - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE], scope: Namespaced}
kubernetesMutating:
- name: crew.ships.example.org
  namespace: {labelSelector: {matchLabels: {hooks: e2e}}}
  rules:
  - {apiGroups: [hooks.example.org], apiVersions: ["*"], resources: [ships], operations: [CREATE], scope: Namespaced}
kubernetesCustomResourceConversion:
- name: masts
  crdName: ships.hooks.example.org
  conversions:
  - {fromVersion: v1beta1, toVersion: v1}
  - {fromVersion: v1, toVersion: v1beta1}
CONF
}

__on_schedule::tick() {
  echo '{"name": "ticks", "action": "set", "value": 1, "labels": {"by": "clock"}, "unit": "s"}' >> "$METRICS_PATH"
}

__on_validating::names.ships.example.org() {
  case "$(context::jq -r .review.request.name)" in
  titanic)
    echo '{"allowed": false, "message": "unlucky name"}' > "$VALIDATING_RESPONSE_PATH"
    ;;
  flying-dutchman) # never arrives, and does not listen
    trap '' INT
    sleep 600 &
    echo "$$ $!" > "$STATE/dutchman"
    wait
    ;;
  *)
    echo '{"allowed": true}' > "$VALIDATING_RESPONSE_PATH"
    ;;
  esac
}

__on_mutating::crew.ships.example.org() {
  local patch
  patch=$(echo -n '[{"op": "add", "path": "/crew", "value": "mutated"}]' | base64 | tr -d '\n')
  echo "{\"allowed\": true, \"patch\": \"$patch\"}" > "$ADMISSION_RESPONSE_PATH"
}

__on_conversion::masts::v1beta1::v1() { convert; }
__on_conversion::masts::v1::v1beta1() { convert; }

convert() {
  context::jq -c '.review.request | .desiredAPIVersion as $to | {convertedObjects: [.objects[] | .apiVersion = $to | .masts = "converted"]}' > "$CONVERSION_RESPONSE_PATH"
}

hook::run "$@"
