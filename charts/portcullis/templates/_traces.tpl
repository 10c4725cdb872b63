{{/* Environment variables of the export of spans, of every service that records them. */}}
{{- define "portcullis.tracesEnv" -}}
{{- with .Values.traces.otlp -}}
{{- if .url -}}
- { name: PORTCULLIS_TRACES_OTLP_URL, value: {{ .url | quote }} }
{{- if .existingSecret }}
- { name: PORTCULLIS_TRACES_OTLP_TOKEN_FILE, value: /etc/portcullis/traces/token }
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The volume of its token, which is mounted at the path of tracesMounts. */}}
{{- define "portcullis.tracesVolumes" -}}
{{- with .Values.traces.otlp -}}
{{- if and .url .existingSecret -}}
- name: traces
  secret: { secretName: {{ .existingSecret | quote }}, defaultMode: 0440, items: [{ key: token, path: token }] }
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.tracesMounts" -}}
{{- with .Values.traces.otlp -}}
{{- if and .url .existingSecret -}}
- { name: traces, mountPath: /etc/portcullis/traces, readOnly: true }
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The address of the collector as a JSON list. */}}
{{- define "portcullis.tracesUrls" -}}
{{- with .Values.traces.otlp.url -}}{{- toJson (list .) -}}{{- else -}}[]{{- end -}}
{{- end -}}
