{{/* Components of the memory service, as a list in YAML; none if it is disabled. */}}
{{- define "portcullis.memoryComponents" -}}
{{- if .Values.memory.enabled -}}
- memory
{{- if gt (int .Values.memory.worker.replicas) 0 }}
- memory-worker
{{- end }}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* Replicas of API and worker together. */}}
{{- define "portcullis.memoryPods" -}}
{{- add (int .Values.memory.replicas) (int .Values.memory.worker.replicas) -}}
{{- end -}}

{{/* MiB of heap: three quarters of what twice the index and 64 MiB of program code leave of the memory limit, because segments
     that are read and evicted take memory until they are collected: (dict "indexMib" MiB "resources" resources) */}}
{{- define "portcullis.memoryHeap" -}}
{{- $besides := add (mul 2 (int .indexMib)) 64 -}}
{{- with include "portcullis.memoryMib" .resources -}}
{{- div (mul (sub (int .) $besides) 3) 4 -}}
{{- end -}}
{{- end -}}

{{/* Refuses values of the memory service that a schema cannot. */}}
{{- define "portcullis.checkMemory" -}}
{{- with .Values.memory -}}
{{- include "portcullis.checkIssuers" (dict "path" "memory.issuers" "issuers" .issuers) -}}
{{- if and (eq $.Values.gateway.clientAuth "keys") $.Values.gateway.clientKeys.existingSecret (not .gatewayKey.existingSecret) -}}
{{- fail "memory.gatewayKey.existingSecret must name the Secret of a client key where gateway.clientKeys.existingSecret is set" -}}
{{- end -}}
{{- $ids := list -}}
{{- range .profiles.embedding -}}
{{- if has .id $ids }}{{ fail (printf "memory.profiles.embedding: %s is listed twice" .id) }}{{ end -}}
{{- $ids = append $ids .id -}}
{{- end -}}
{{- if and .embeddingProfile (not (has .embeddingProfile $ids)) -}}
{{- fail (printf "memory.embeddingProfile: %s is not in memory.profiles.embedding: add it there" .embeddingProfile) -}}
{{- end -}}
{{- if .guard.servedPolicy -}}
{{- $served := list -}}
{{- range $.Values.servedPolicies }}{{ $served = append $served .name }}{{ end -}}
{{- if not (has .guard.servedPolicy $served) -}}
{{- fail (printf "memory.guard.servedPolicy: %s is not in servedPolicies: add it there" .guard.servedPolicy) -}}
{{- end -}}
{{- end -}}
{{- $index := dict "service" "memory" "indexMib" .indexMib "times" 2 "besides" 320 "rule" "twice indexMib plus 320Mi" -}}
{{- include "portcullis.checkIndexLimit" (merge (dict "path" "memory.resources" "resources" .resources) $index) -}}
{{- /* With a model, a worker looks for the nearest memories in an index of its own. */ -}}
{{- include "portcullis.checkIndexLimit" (merge (dict "path" "memory.worker.resources" "resources" .worker.resources) $index) -}}
{{- end -}}
{{- end -}}

{{/* Whether Helm adds a client key of the memory service to those that it generates. */}}
{{- define "portcullis.generatesMemoryKey" -}}
{{- if and .Values.memory.enabled (eq .Values.gateway.clientAuth "keys") (not .Values.gateway.clientKeys.existingSecret) (not .Values.memory.gatewayKey.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* Where the memory service is, for pods of the cluster. */}}
{{- define "portcullis.memoryUrl" -}}
{{- printf "%s://%s-memory.%s.svc:%v" (include "portcullis.scheme" .Values.memory) (include "portcullis.fullname" .) .Release.Namespace .Values.memory.service.port -}}
{{- end -}}
