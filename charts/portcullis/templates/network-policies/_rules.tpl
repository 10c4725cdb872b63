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

{{/* Pods of the versions of agents, which the operator makes. */}}
{{- define "portcullis.agentPods" -}}
- podSelector:
    matchLabels:
      app.kubernetes.io/name: portcullis-agent
      app.kubernetes.io/managed-by: portcullis-operator
{{- end -}}

{{/* Ports of URLs at any address, each once: a list of them */}}
{{- define "portcullis.egress.urls" -}}
{{- $standard := dict "https" "443" "http" "80" "postgres" "5432" "postgresql" "5432" "nats" "4222" "tls" "4222" -}}
{{- $ports := list -}}
{{- range . -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $ports = append $ports (default (get $standard $url.scheme) $port | int) -}}
{{- end -}}
{{- with uniq $ports -}}
- ports:
    {{- range . }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end -}}
{{- end -}}

{{/* Ports of the endpoints of providers at any address, where nothing more exact is given: (dict "context" $ "kinds" kinds "urls" further URLs "rules" egress) */}}
{{- define "portcullis.egress.providers" -}}
{{- if .rules -}}
{{- toYaml .rules -}}
{{- else -}}
{{- $urls := .urls | default list -}}
{{- $kinds := .kinds -}}
{{- range .context.Values.providers -}}
{{- if has .kind $kinds -}}{{- $urls = append $urls .endpoint -}}{{- end -}}
{{- end -}}
{{- include "portcullis.egress.urls" $urls -}}
{{- end -}}
{{- end -}}

{{/* Addresses that gateways call beside models: the services of flows of agents, and the collector of spans. */}}
{{- define "portcullis.gatewayUrls" -}}
{{- $urls := list -}}
{{- if .Values.agents.enabled -}}
{{- range .Values.agents.connections -}}{{- $urls = append $urls .url -}}{{- end -}}
{{- end -}}
{{- toYaml (concat $urls (include "portcullis.tracesUrls" . | fromJsonArray)) -}}
{{- end -}}

{{/* Issuers, an external database and OpenFGA, where nothing more exact is given. */}}
{{- define "portcullis.egress.management" -}}
{{- with .Values.management -}}
{{- if .egress -}}
{{- toYaml .egress -}}
{{- else -}}
{{- $urls := list -}}
{{- range .issuers -}}
{{- if hasKey . "jwksUrl" -}}{{- $urls = append $urls .jwksUrl -}}{{- end -}}
{{- end -}}
{{- if not $.Values.postgresql.enabled -}}{{- $urls = append $urls $.Values.externalDatabase.url -}}{{- end -}}
{{- if eq .relations "openfga" -}}{{- $urls = append $urls .openfga.url -}}{{- end -}}
{{- $urls = concat $urls (include "portcullis.auditExportUrls" $ | fromJsonArray) -}}
{{- include "portcullis.egress.urls" $urls -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Issuers, an external database, OpenFGA, S3, NATS, OpenSearch and the collector of spans, where nothing more exact is given. */}}
{{- define "portcullis.egress.retrieval" -}}
{{- with .Values.retrieval -}}
{{- if .egress -}}
{{- toYaml .egress -}}
{{- else -}}
{{- $urls := list -}}
{{- range .issuers -}}
{{- if hasKey . "jwksUrl" -}}{{- $urls = append $urls .jwksUrl -}}{{- end -}}
{{- end -}}
{{- if not $.Values.postgresql.enabled -}}{{- $urls = append $urls $.Values.externalDatabase.url -}}{{- end -}}
{{- if eq .relations "openfga" -}}{{- $urls = append $urls .openfga.url -}}{{- end -}}
{{- if .s3.url -}}{{- $urls = append $urls .s3.url -}}{{- end -}}
{{- if .nats.url -}}{{- $urls = append $urls .nats.url -}}{{- end -}}
{{- if .opensearch.url -}}{{- $urls = append $urls .opensearch.url -}}{{- end -}}
{{- $urls = concat $urls (include "portcullis.auditExportUrls" $ | fromJsonArray) -}}
{{- $urls = concat $urls (include "portcullis.tracesUrls" $ | fromJsonArray) -}}
{{- include "portcullis.egress.urls" $urls -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Issuers, an external database and the collector of spans, where nothing more exact is given. */}}
{{- define "portcullis.egress.memory" -}}
{{- with .Values.memory -}}
{{- if .egress -}}
{{- toYaml .egress -}}
{{- else -}}
{{- $urls := list -}}
{{- range .issuers -}}
{{- if hasKey . "jwksUrl" -}}{{- $urls = append $urls .jwksUrl -}}{{- end -}}
{{- end -}}
{{- if not $.Values.postgresql.enabled -}}{{- $urls = append $urls $.Values.externalDatabase.url -}}{{- end -}}
{{- $urls = concat $urls (include "portcullis.auditExportUrls" $ | fromJsonArray) -}}
{{- $urls = concat $urls (include "portcullis.tracesUrls" $ | fromJsonArray) -}}
{{- include "portcullis.egress.urls" $urls -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Issuers and the collector of spans of the API, or the webhook or NATS of the worker, an external database, and the OpenFGA server of agents, where nothing more exact is given: (list context component) */}}
{{- define "portcullis.egress.catalogue" -}}
{{- $ := index . 0 -}}
{{- $isWorker := eq (index . 1) "catalogue-worker" -}}
{{- with $.Values.catalogue -}}
{{- if .egress -}}
{{- toYaml .egress -}}
{{- else -}}
{{- $urls := list -}}
{{- if not $isWorker -}}
{{- range .issuers -}}
{{- if hasKey . "jwksUrl" -}}{{- $urls = append $urls .jwksUrl -}}{{- end -}}
{{- end -}}
{{- $urls = concat $urls (include "portcullis.tracesUrls" $ | fromJsonArray) -}}
{{- else if or .events.url .events.nats.url -}}
{{- $urls = append $urls (default .events.url .events.nats.url) -}}
{{- end -}}
{{- if not $.Values.postgresql.enabled -}}{{- $urls = append $urls $.Values.externalDatabase.url -}}{{- end -}}
{{- with $.Values.agents }}{{ if eq .relations "openfga" }}{{ $urls = append $urls .openfga.url }}{{ end }}{{ end -}}
{{- include "portcullis.egress.urls" $urls -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The database of the rights on agents, and for the gateway the issuers of people: (list context component) */}}
{{- define "portcullis.egress.agentRights" -}}
{{- $ := index . 0 -}}
{{- $urls := list -}}
{{- if eq (index . 1) "gateway" -}}
{{- range $.Values.agents.issuers -}}
{{- if hasKey . "jwksUrl" -}}{{- $urls = append $urls .jwksUrl -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $.Values.postgresql.enabled }}
- to:
    - podSelector:
        matchLabels:
          {{- include "portcullis.selectorLabels" (list $ "postgres") | nindent 10 }}
  ports:
    - { port: postgres, protocol: TCP }
{{- else -}}
{{- $urls = append $urls $.Values.externalDatabase.url -}}
{{- end }}
{{- with $.Values.agents }}{{ if eq .relations "openfga" }}{{ $urls = append $urls .openfga.url }}{{ end }}{{ end }}
{{ include "portcullis.egress.urls" $urls }}
{{- end -}}

{{/* Peers that may read metrics: every pod of the cluster if none is configured. */}}
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
