#!/usr/bin/env bash
# Describe the purpose of this hook here.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/shell_lib.sh"

function __config__() {
  cat <<'YAML'
configVersion: v1
kubernetesCustomResourceConversion:
- name: convert-crontabs
  crdName: crontabs.stable.example.org
  conversions:
  - fromVersion: stable.example.org/v1alpha1
    toVersion: stable.example.org/v1
  - fromVersion: stable.example.org/v1
    toVersion: stable.example.org/v1alpha1
YAML
}

# Converts CronTab objects from v1alpha1 to v1. Preserve every field.
function __on_conversion::convert-crontabs::stable.example.org.v1alpha1::stable.example.org.v1() {
  context::jq '{convertedObjects: [.review.request.objects[]
    | .apiVersion = "stable.example.org/v1"
  ]}' >"${CONVERSION_RESPONSE_PATH}"
}

# Converts CronTab objects from v1 to v1alpha1. Preserve every field.
function __on_conversion::convert-crontabs::stable.example.org.v1::stable.example.org.v1alpha1() {
  context::jq '{convertedObjects: [.review.request.objects[]
    | .apiVersion = "stable.example.org/v1alpha1"
  ]}' >"${CONVERSION_RESPONSE_PATH}"
}

hook::run "$@"
