{{/* Components of the agent catalogue, as a list in YAML; none if it is disabled. */}}
{{- define "portcullis.catalogueComponents" -}}
{{- if .Values.catalogue.enabled -}}
- catalogue
- catalogue-worker
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* Replicas of the API and the one worker. */}}
{{- define "portcullis.cataloguePods" -}}
{{- add (int .Values.catalogue.replicas) 1 -}}
{{- end -}}

{{/* Refuses values of the agent catalogue that a schema cannot. */}}
{{- define "portcullis.checkCatalogue" -}}
{{- with .Values.catalogue -}}
{{- if not $.Values.agents.enabled -}}
{{- fail "catalogue.enabled needs agents.enabled=true: the catalogue shows the agents that this release runs" -}}
{{- end -}}
{{- include "portcullis.checkIssuers" (dict "path" "catalogue.issuers" "issuers" .issuers) -}}
{{- if and (eq $.Values.gateway.clientAuth "keys") $.Values.gateway.clientKeys.existingSecret (not .gatewayKey.existingSecret) -}}
{{- fail "catalogue.gatewayKey.existingSecret must name the Secret of a client key where gateway.clientKeys.existingSecret is set" -}}
{{- end -}}
{{- $ids := list -}}
{{- range .profiles.embedding -}}
{{- if has .id $ids }}{{ fail (printf "catalogue.profiles.embedding: %s is listed twice" .id) }}{{ end -}}
{{- $ids = append $ids .id -}}
{{- end -}}
{{- if and .embeddingProfile (not (has .embeddingProfile $ids)) -}}
{{- fail (printf "catalogue.embeddingProfile: %s is not in catalogue.profiles.embedding: add it there" .embeddingProfile) -}}
{{- end -}}
{{- if .guard.servedPolicy -}}
{{- $served := list -}}
{{- range $.Values.servedPolicies }}{{ $served = append $served .name }}{{ end -}}
{{- if not (has .guard.servedPolicy $served) -}}
{{- fail (printf "catalogue.guard.servedPolicy: %s is not in servedPolicies: add it there" .guard.servedPolicy) -}}
{{- end -}}
{{- end -}}
{{- if ne (empty .events.url) (empty .events.secret.existingSecret) -}}
{{- fail "catalogue.events.url and catalogue.events.secret.existingSecret must be set together" -}}
{{- end -}}
{{- if and .events.url .events.nats.url -}}
{{- fail "catalogue.events.url and catalogue.events.nats.url are two receivers: set one of them" -}}
{{- end -}}
{{- $index := dict "service" "catalogue" "indexMib" .indexMib "times" 2 "besides" 256 "rule" "twice indexMib plus 256Mi" -}}
{{- include "portcullis.checkIndexLimit" (merge (dict "path" "catalogue.resources" "resources" .resources) $index) -}}
{{- end -}}
{{- end -}}

{{/* MiB of heap: three quarters of what twice the index leaves of the memory limit, because segments that are read and evicted
     take memory until they are collected. */}}
{{- define "portcullis.catalogueHeap" -}}
{{- $index := mul 2 (int .Values.catalogue.indexMib) -}}
{{- with include "portcullis.memoryMib" .Values.catalogue.resources -}}
{{- div (mul (sub (int .) $index) 3) 4 -}}
{{- end -}}
{{- end -}}

{{/* Whether Helm adds a client key of the agent catalogue to those that it generates. */}}
{{- define "portcullis.generatesCatalogueKey" -}}
{{- if and .Values.catalogue.enabled (eq .Values.gateway.clientAuth "keys") (not .Values.gateway.clientKeys.existingSecret) (not .Values.catalogue.gatewayKey.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* The Secret from which the key of cursors is derived. */}}
{{- define "portcullis.cursorKeySecret" -}}
{{- default (printf "%s-catalogue-key" (include "portcullis.fullname" .)) .Values.catalogue.cursorKey.existingSecret -}}
{{- end -}}

{{/* Where the agent catalogue is, for pods of the cluster. */}}
{{- define "portcullis.catalogueUrl" -}}
{{- printf "%s://%s-catalogue.%s.svc:%v" (include "portcullis.scheme" .Values.catalogue) (include "portcullis.fullname" .) .Release.Namespace .Values.catalogue.service.port -}}
{{- end -}}
