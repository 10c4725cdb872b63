{{/*
Refuses more replicas than the database of this chart has connections for. It admits 100, of which 3 are for administrators and
one is for metrics.
*/}}
{{- define "portcullis.checkConnections" -}}
{{- $most := 96 -}}
{{- $connections := 0 -}}
{{- with .Values -}}
{{- if .management.enabled }}{{ $connections = add $connections (mul 11 (int .management.replicas)) }}{{ end -}}
{{- if .retrieval.enabled }}{{ $connections = add $connections (mul 12 (include "portcullis.retrievalPods" $ | int)) }}{{ end -}}
{{- if .memory.enabled }}{{ $connections = add $connections (mul 11 (include "portcullis.memoryPods" $ | int)) }}{{ end -}}
{{- if .catalogue.enabled }}{{ $connections = add $connections (mul 10 (include "portcullis.cataloguePods" $ | int)) }}{{ end -}}
{{- if .agents.enabled }}
{{- $perGateway := ternary 14 10 (or (gt (int .agents.budgetPerMinute) 0) (gt (int .agents.budgetPerDay) 0) (gt (int64 .agents.tokensPerDay) 0) (gt (int64 .agents.bytesPerDay) 0)) -}}
{{- $connections = add $connections (mul $perGateway (int .gateway.replicas)) (mul 3 (int .operator.replicas)) -}}
{{- end -}}
{{- end -}}
{{- if gt (int $connections) $most -}}
{{- fail (printf "the chart's database has connections for %d, and the replicas need %d: 10 for each of catalogue and its worker, 11 for each of management, memory and its worker, 12 for each of retrieval and its worker, and with agents 10 for each gateway, or 14 with a budget of runs, and 3 for each operator; more replicas require externalDatabase.url" $most $connections) -}}
{{- end -}}
{{- end -}}
