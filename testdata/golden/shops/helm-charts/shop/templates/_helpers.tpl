{{- define "shop.labels" -}}
app.kubernetes.io/name: shop
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "shop.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end -}}

{{- define "shop.secure" -}}
allowPrivilegeEscalation: false
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
capabilities: {drop: [ALL]}
{{- end -}}
