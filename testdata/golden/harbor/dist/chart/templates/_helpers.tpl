{{/* Start of the names of all objects. */}}
{{- define "harbor.fullname" -}}
{{ .Values.fullnameOverride | default "harbor" }}
{{- end }}

{{/* Name of the manager's service account. */}}
{{- define "harbor.serviceAccountName" -}}
{{- if .Values.serviceAccount.enabled -}}
{{ .Values.serviceAccount.name | default (printf "%s-controller-manager" (include "harbor.fullname" .)) }}
{{- else -}}
{{ required "serviceAccount.name is required if serviceAccount.enabled is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Image of the manager, by its tag or its digest. */}}
{{- define "harbor.image" -}}
{{- $tag := .Values.manager.image.tag | default .Chart.AppVersion -}}
{{ .Values.manager.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}
