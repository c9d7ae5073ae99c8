{{/* Start of the names of all objects. */}}
{{- define "[name].fullname" -}}
{{ .Values.fullnameOverride | default "[prefix]" }}
{{- end }}

{{/* Name of the manager's service account. */}}
{{- define "[name].serviceAccountName" -}}
{{- if .Values.serviceAccount.enabled -}}
{{ .Values.serviceAccount.name | default (printf "%s[account]" (include "[name].fullname" .)) }}
{{- else -}}
{{ required "serviceAccount.name is required if serviceAccount.enabled is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Image of the manager, by its tag or its digest. */}}
{{- define "[name].image" -}}
{{- $tag := .Values.manager.image.tag | default .Chart.AppVersion -}}
{{ .Values.manager.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}
