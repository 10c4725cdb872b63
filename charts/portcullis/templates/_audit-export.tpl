{{/* Environment variables of the export of the audit log, of every service that writes it. */}}
{{- define "portcullis.auditExportEnv" -}}
{{- with .Values.auditExport -}}
{{- if .webhook.url -}}
- { name: PORTCULLIS_AUDIT_WEBHOOK_URL, value: {{ .webhook.url | quote }} }
- { name: PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE, value: /etc/portcullis/audit-webhook/token }
{{ end -}}
{{- if .otlp.url -}}
- { name: PORTCULLIS_AUDIT_OTLP_URL, value: {{ .otlp.url | quote }} }
{{- if .otlp.existingSecret }}
- { name: PORTCULLIS_AUDIT_OTLP_TOKEN_FILE, value: /etc/portcullis/audit-otlp/token }
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Volumes of its secrets; each is mounted at the path of auditExportMounts. */}}
{{- define "portcullis.auditExportVolumes" -}}
{{- with .Values.auditExport -}}
{{- if .webhook.url -}}
- name: audit-webhook
  secret: { secretName: {{ .webhook.existingSecret | quote }}, defaultMode: 0440, items: [{ key: token, path: token }] }
{{ end -}}
{{- if and .otlp.url .otlp.existingSecret -}}
- name: audit-otlp
  secret: { secretName: {{ .otlp.existingSecret | quote }}, defaultMode: 0440, items: [{ key: token, path: token }] }
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.auditExportMounts" -}}
{{- with .Values.auditExport -}}
{{- if .webhook.url -}}
- { name: audit-webhook, mountPath: /etc/portcullis/audit-webhook, readOnly: true }
{{ end -}}
{{- if and .otlp.url .otlp.existingSecret -}}
- { name: audit-otlp, mountPath: /etc/portcullis/audit-otlp, readOnly: true }
{{- end -}}
{{- end -}}
{{- end -}}

{{/* URLs of its receivers as a JSON list. */}}
{{- define "portcullis.auditExportUrls" -}}
{{- $urls := list -}}
{{- with .Values.auditExport -}}
{{- if .webhook.url -}}{{- $urls = append $urls .webhook.url -}}{{- end -}}
{{- if .otlp.url -}}{{- $urls = append $urls .otlp.url -}}{{- end -}}
{{- end -}}
{{- toJson $urls -}}
{{- end -}}
