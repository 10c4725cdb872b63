{{/* Names are looked up at addresses that differ from cluster to cluster. */}}
{{- define "portcullis.egress.names" -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{- end -}}

{{/* Policies know addresses and no names: of the API server only its ports can be said. */}}
{{- define "portcullis.egress.apiServer" -}}
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end -}}

{{- define "portcullis.egress.runtimes" -}}
- to:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: portcullis-runtime
          app.kubernetes.io/managed-by: portcullis-operator
  ports:
    - { port: 8000, protocol: TCP }
{{- end -}}

{{/* Ports of the endpoints of providers at any address, where nothing more exact is given: (dict "context" $ "kinds" kinds "rules" egress) */}}
{{- define "portcullis.egress.providers" -}}
{{- if .rules -}}
{{- toYaml .rules -}}
{{- else -}}
{{- $ports := list -}}
{{- $kinds := .kinds -}}
{{- range .context.Values.providers -}}
{{- if has .kind $kinds -}}
{{- $url := urlParse .endpoint -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $ports = append $ports (default (ternary "443" "80" (eq $url.scheme "https")) $port | int) -}}
{{- end -}}
{{- end -}}
{{- with uniq $ports -}}
- ports:
    {{- range . }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Who may read metrics: every pod of the cluster where nobody is named. */}}
{{- define "portcullis.ingress.monitoring" -}}
- from:
    {{- with .Values.networkPolicy.monitoringFrom }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    - namespaceSelector: {}
    {{- end }}
  ports:
    - { port: admin, protocol: TCP }
{{- end -}}
