{{/*
Deployment, PodDisruptionBudget and Service for metrics of one role of the memory service:
(dict "context" $ "component" component "suffix" suffix "role" role "replicas" replicas "resources" resources "heap" MiB)
*/}}
{{- define "portcullis.memoryRole" -}}
{{- $ := .context -}}
{{- $own := $.Values.memory -}}
{{- $service := printf "%s-memory" (include "portcullis.fullname" $) -}}
{{- $name := printf "%s-%s" (include "portcullis.fullname" $) .suffix -}}
{{- $issuers := include "portcullis.issuersWithAgents" (dict "context" $ "issuers" $own.issuers "service" "memory") | fromYaml -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "portcullis.labels" (list $ .component) | nindent 4 }}
spec:
  replicas: {{ .replicas }}
  revisionHistoryLimit: 3
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels:
      {{- include "portcullis.selectorLabels" (list $ .component) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "portcullis.labels" (list $ .component) | nindent 8 }}
        {{- if $own.guard.servedPolicy }}
        {{- include "portcullis.runtimeClientLabel" $ | nindent 8 }}
        {{- end }}
      annotations:
        {{- with $own.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        # Issuers are read at the start; key sets and profiles are followed on change.
        checksum/issuers: {{ get $issuers "issuers.yaml" | sha256sum }}
    spec:
      serviceAccountName: {{ $service | quote }}
      # It calls no API server.
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- include "portcullis.imagePullSecrets" $ | nindent 6 }}
      securityContext:
        {{- include "portcullis.podSecurityContext" $ | nindent 8 }}
      {{- include "portcullis.placement" (dict "context" $ "component" .component "values" $own) | nindent 6 }}
      # Requests in flight have 15 s; then an event in progress returns to the other workers.
      terminationGracePeriodSeconds: 60
      containers:
        - name: {{ .component }}
          image: {{ include "portcullis.image" $ }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
          command: [node, dataplane/memory/main.ts]
          securityContext:
            {{- include "portcullis.securityContext" $ | nindent 12 }}
          ports:
            {{- if ne .role "worker" }}
            - { name: http, containerPort: 8080 }
            {{- end }}
            - { name: admin, containerPort: 9090 }
          env:
            - { name: PORTCULLIS_LISTEN, value: "0.0.0.0:8080" }
            - { name: PORTCULLIS_ADMIN_LISTEN, value: "0.0.0.0:9090" }
            {{- if ne .role "worker" }}{{- with include "portcullis.tlsEnv" $own | trim }}{{ . | nindent 12 }}{{- end }}{{- end }}
            - { name: PORTCULLIS_ROLE, value: {{ .role }} }
            - { name: PORTCULLIS_IDENTITY, value: production }
            - { name: PORTCULLIS_ISSUERS_FILE, value: /etc/portcullis/issuers/issuers.yaml }
            - { name: PORTCULLIS_DATABASE_URL, value: {{ include "portcullis.databaseUrl" $ | quote }} }
            - { name: PORTCULLIS_DATABASE_PASSWORD_FILE, value: /etc/portcullis/database/password }
            - { name: PORTCULLIS_MODEL_GATEWAY_URL, value: {{ include "portcullis.gatewayUrl" $ | quote }} }
            {{- if eq $.Values.gateway.clientAuth "keys" }}
            - { name: PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE, value: /etc/portcullis/gateway-key/token }
            {{- end }}
            - { name: PORTCULLIS_MODELS_FILE, value: /etc/portcullis/memory/models.yaml }
            {{- with $own.embeddingProfile }}
            - { name: PORTCULLIS_EMBEDDING_PROFILE, value: {{ . | quote }} }
            {{- end }}
            {{- with $own.extractionModel }}
            - { name: PORTCULLIS_EXTRACTION_MODEL, value: {{ . | quote }} }
            {{- end }}
            {{- if $own.guard.servedPolicy }}
            - { name: PORTCULLIS_GUARD_TARGET_FILE, value: /etc/portcullis/guard/target.json }
            - { name: PORTCULLIS_RUNTIME_TOKEN_FILE, value: /etc/portcullis/runtime-token/token }
            {{- end }}
            - { name: PORTCULLIS_INDEX_MIB, value: {{ $own.indexMib | int | quote }} }
            - { name: PORTCULLIS_EVENT_CONCURRENCY, value: {{ $own.eventConcurrency | int | quote }} }
            - { name: PORTCULLIS_USER_MEMORIES, value: {{ $own.quotas.userMemories | int64 | quote }} }
            - { name: PORTCULLIS_AUDIT_DAYS, value: {{ $own.auditDays | quote }} }
            {{- with include "portcullis.auditExportEnv" $ | trim }}{{ . | nindent 12 }}{{- end }}
            {{- with include "portcullis.tracesEnv" $ | trim }}{{ . | nindent 12 }}{{- end }}
            - { name: PORTCULLIS_TENANT_USERS, value: {{ $own.quotas.tenantUsers | int64 | quote }} }
            - { name: PORTCULLIS_TENANT_OPEN_EVENTS, value: {{ $own.quotas.tenantOpenEvents | int64 | quote }} }
            - { name: PORTCULLIS_LOG_LEVEL, value: {{ $own.logLevel }} }
            {{- if $.Values.trustedAuthorities.existingConfigMap }}
            - { name: NODE_EXTRA_CA_CERTS, value: /etc/portcullis/authorities/ca.crt }
            {{- end }}
            {{- with .heap }}
            - { name: NODE_OPTIONS, value: {{ include "portcullis.heapOptions" . | quote }} }
            {{- end }}
          # At the first start it may wait for the database and migrate it.
          startupProbe: { httpGet: { path: /livez, port: admin }, periodSeconds: 1, failureThreshold: 300 }
          # The event loop answers, so that a frozen process fails and a busy one does not.
          livenessProbe: { httpGet: { path: /livez, port: admin }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }
          # It asks the database: a replica without it answers no request.
          readinessProbe: { httpGet: { path: /readyz, port: admin }, periodSeconds: 2, timeoutSeconds: 5 }
          {{- if ne .role "worker" }}
          # Keeps serving until every proxy has removed the replica from its table.
          lifecycle: { preStop: { sleep: { seconds: 5 } } }
          {{- end }}
          resources:
            {{- toYaml .resources | nindent 12 }}
          volumeMounts:
            {{- if ne .role "worker" }}{{- with include "portcullis.tlsMounts" $own | trim }}{{ . | nindent 12 }}{{- end }}{{- end }}
            - { name: memory, mountPath: /etc/portcullis/memory, readOnly: true }
            - { name: issuers, mountPath: /etc/portcullis/issuers, readOnly: true }
            - { name: database, mountPath: /etc/portcullis/database, readOnly: true }
            {{- with include "portcullis.auditExportMounts" $ | trim }}{{ . | nindent 12 }}{{- end }}
            {{- with include "portcullis.tracesMounts" $ | trim }}{{ . | nindent 12 }}{{- end }}
            {{- if eq $.Values.gateway.clientAuth "keys" }}
            - { name: gateway-key, mountPath: /etc/portcullis/gateway-key, readOnly: true }
            {{- end }}
            {{- if $own.guard.servedPolicy }}
            - { name: guard, mountPath: /etc/portcullis/guard, readOnly: true }
            - { name: runtime-token, mountPath: /etc/portcullis/runtime-token, readOnly: true }
            {{- end }}
            {{- if $.Values.trustedAuthorities.existingConfigMap }}
            - { name: authorities, mountPath: /etc/portcullis/authorities, readOnly: true }
            {{- end }}
      volumes:
        {{- if ne .role "worker" }}{{- with include "portcullis.tlsVolumes" $own | trim }}{{ . | nindent 8 }}{{- end }}{{- end }}
        - name: memory
          configMap: { name: {{ $service | quote }}, items: [{ key: models.yaml, path: models.yaml }] }
        - name: issuers
          configMap: { name: {{ $service }}-issuers }
        - name: database
          secret:
            secretName: {{ include "portcullis.databaseSecret" $ | quote }}
            defaultMode: 0440
            items: [{ key: password, path: password }]
        {{- with include "portcullis.auditExportVolumes" $ | trim }}{{ . | nindent 8 }}{{- end }}
        {{- with include "portcullis.tracesVolumes" $ | trim }}{{ . | nindent 8 }}{{- end }}
        {{- if eq $.Values.gateway.clientAuth "keys" }}
        - name: gateway-key
          secret:
            secretName: {{ default (include "portcullis.clientKeysSecret" $) $own.gatewayKey.existingSecret | quote }}
            defaultMode: 0440
            items: [{ key: {{ ternary "token" "memory" (ne $own.gatewayKey.existingSecret "") }}, path: token }]
        {{- end }}
        {{- with $own.guard.servedPolicy }}
        # The operator writes it once the policy is served; until then the pod waits.
        - name: guard
          configMap: { name: portcullis-served-{{ . }}, items: [{ key: target.json, path: target.json }] }
        - name: runtime-token
          secret: { secretName: {{ include "portcullis.runtimeTokenSecret" $ | quote }}, defaultMode: 0440 }
        {{- end }}
        {{- include "portcullis.authoritiesVolume" $ | nindent 8 }}
{{- if and $own.podDisruptionBudget.enabled (gt (int .replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "portcullis.labels" (list $ .component) | nindent 4 }}
spec:
  maxUnavailable: {{ $own.podDisruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "portcullis.selectorLabels" (list $ .component) | nindent 6 }}
{{- end }}
---
# Apart from what clients reach: metrics are for the cluster alone.
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}-admin
  labels:
    {{- include "portcullis.labels" (list $ .component) | nindent 4 }}
    portcullis.dev/metrics: "true"
spec:
  selector:
    {{- include "portcullis.selectorLabels" (list $ .component) | nindent 4 }}
  ports:
    - { name: admin, port: 9090, targetPort: admin }
{{- end -}}
