{{/*
Refuses more replicas than the database of this chart has connections for. It admits 200, of which 3 are for administrators and
one is for metrics. A component that is rolled counts twice: each of its new pods may have opened its connections while each of the
former ones still ends, and Helm changes all components at once. One that is recreated ends before the next one starts.
*/}}
{{- define "portcullis.checkConnections" -}}
{{- $most := 196 -}}
{{- $connections := 0 -}}
{{- with .Values -}}
{{- if .management.enabled }}{{ $connections = add $connections (mul 2 11 (int .management.replicas)) }}{{ end -}}
{{- if .retrieval.enabled }}
{{- $times := ternary 1 2 (ne (include "portcullis.retrievalIsAlone" $) "") -}}
{{- $connections = add $connections (mul $times 12 (include "portcullis.retrievalPods" $ | int)) -}}
{{- end -}}
{{- if .memory.enabled }}{{ $connections = add $connections (mul 2 11 (include "portcullis.memoryPods" $ | int)) }}{{ end -}}
{{- if .catalogue.enabled }}{{ $connections = add $connections (mul 2 10 (int .catalogue.replicas)) 10 }}{{ end -}}
{{- if .agents.enabled }}
{{- $perGateway := ternary 14 10 (or (gt (int .agents.budgetPerMinute) 0) (gt (int .agents.budgetPerDay) 0) (gt (int64 .agents.tokensPerDay) 0) (gt (int64 .agents.bytesPerDay) 0)) -}}
{{- $connections = add $connections (mul 2 $perGateway (int .gateway.replicas)) (mul 2 3 (int .operator.replicas)) -}}
{{- end -}}
{{- end -}}
{{- if gt (int $connections) $most -}}
{{- fail (printf "the chart's database has connections for %d, and the replicas need %d during a rollout: 10 for each of catalogue and its worker, 11 for each of management, memory and its worker, 12 for each of retrieval and its worker, and with agents 10 for each gateway, or 14 with a budget of runs, and 3 for each operator, each twice unless it is recreated; more replicas require externalDatabase.url" $most $connections) -}}
{{- end -}}
{{- end -}}
