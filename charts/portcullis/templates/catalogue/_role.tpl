{{/*
Deployment and Service for metrics of one role of the agent catalogue:
(dict "context" $ "component" component "role" role "replicas" replicas "resources" resources "heap" MiB)
*/}}
{{- define "portcullis.catalogueRole" -}}
{{- $ := .context -}}
{{- $own := $.Values.catalogue -}}
{{- $service := printf "%s-catalogue" (include "portcullis.fullname" $) -}}
{{- $name := printf "%s-%s" (include "portcullis.fullname" $) .component -}}
{{- $issuers := include "portcullis.issuersWithAgents" (dict "context" $ "issuers" $own.issuers "service" "catalogue") | fromYaml -}}
{{- $isWorker := eq .role "worker" -}}
{{- $sendsEvents := and $isWorker $own.events.url -}}
{{- $nats := $own.events.nats -}}
{{- $judges := and $isWorker $own.guard.servedPolicy -}}
{{- $storesEvents := and $isWorker $nats.url -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "portcullis.labels" (list $ .component) | nindent 4 }}
spec:
  replicas: {{ .replicas }}
  revisionHistoryLimit: 3
  {{- if $isWorker }}
  # Exactly one process follows the resources and sends events: the next one starts when the previous one has ended.
  strategy: { type: Recreate }
  {{- else }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  {{- end }}
  selector:
    matchLabels:
      {{- include "portcullis.selectorLabels" (list $ .component) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "portcullis.labels" (list $ .component) | nindent 8 }}
        {{- if $judges }}
        {{- include "portcullis.runtimeClientLabel" $ | nindent 8 }}
        {{- end }}
      annotations:
        {{- with $own.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        # Issuers are read at the start; key sets and profiles are followed on change.
        checksum/issuers: {{ get $issuers "issuers.yaml" | sha256sum }}
    spec:
      serviceAccountName: {{ $name | quote }}
      # Only the worker calls the API server.
      automountServiceAccountToken: {{ $isWorker }}
      enableServiceLinks: false
      {{- include "portcullis.imagePullSecrets" $ | nindent 6 }}
      securityContext:
        {{- include "portcullis.podSecurityContext" $ | nindent 8 }}
      {{- include "portcullis.placement" (dict "context" $ "component" .component "values" $own) | nindent 6 }}
      terminationGracePeriodSeconds: 40
      containers:
        - name: {{ .component }}
          image: {{ include "portcullis.image" $ }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
          command: [node, dataplane/catalogue/main.ts]
          securityContext:
            {{- include "portcullis.securityContext" $ | nindent 12 }}
          ports:
            {{- if not $isWorker }}
            - { name: http, containerPort: 8080 }
            {{- end }}
            - { name: admin, containerPort: 9090 }
          env:
            - { name: PORTCULLIS_LISTEN, value: "0.0.0.0:8080" }
            - { name: PORTCULLIS_ADMIN_LISTEN, value: "0.0.0.0:9090" }
            {{- if not $isWorker }}{{- with include "portcullis.tlsEnv" $own | trim }}{{ . | nindent 12 }}{{- end }}{{- end }}
            - { name: PORTCULLIS_ROLE, value: {{ .role }} }
            - { name: PORTCULLIS_IDENTITY, value: production }
            - { name: PORTCULLIS_ISSUERS_FILE, value: /etc/portcullis/issuers/issuers.yaml }
            - { name: PORTCULLIS_DATABASE_URL, value: {{ include "portcullis.databaseUrl" $ | quote }} }
            - { name: PORTCULLIS_DATABASE_PASSWORD_FILE, value: /etc/portcullis/database/password }
            {{- include "portcullis.agentOpenFga" $ | trim | nindent 12 }}
            {{- if $isWorker }}
            - { name: PORTCULLIS_API_URL, value: "https://kubernetes.default.svc" }
            - { name: PORTCULLIS_API_TOKEN_FILE, value: /var/run/secrets/kubernetes.io/serviceaccount/token }
            - { name: PORTCULLIS_API_CA_FILE, value: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt }
            - name: PORTCULLIS_NAMESPACE
              valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
            - { name: PORTCULLIS_MASS_REMOVAL, value: {{ $own.massRemoval }} }
            {{- if $judges }}
            - { name: PORTCULLIS_GUARD_TARGET_FILE, value: /etc/portcullis/guard/target.json }
            - { name: PORTCULLIS_RUNTIME_TOKEN_FILE, value: /etc/portcullis/runtime-token/token }
            {{- end }}
            {{- end }}
            - { name: PORTCULLIS_CURSOR_KEY_FILE, value: /etc/portcullis/cursor-key/key }
            - { name: PORTCULLIS_MODEL_GATEWAY_URL, value: {{ include "portcullis.gatewayUrl" $ | quote }} }
            {{- if eq $.Values.gateway.clientAuth "keys" }}
            - { name: PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE, value: /etc/portcullis/gateway-key/token }
            {{- end }}
            - { name: PORTCULLIS_MODELS_FILE, value: /etc/portcullis/catalogue/models.yaml }
            {{- with $own.embeddingProfile }}
            - { name: PORTCULLIS_EMBEDDING_PROFILE, value: {{ . | quote }} }
            {{- end }}
            {{- if not $isWorker }}
            - { name: PORTCULLIS_INDEX_MIB, value: {{ $own.indexMib | int | quote }} }
            - { name: PORTCULLIS_REQUESTS_PER_CALLER, value: {{ $own.requestsPerCaller | int | quote }} }
            - { name: PORTCULLIS_REQUESTS_PER_MINUTE, value: {{ $own.requestsPerMinute | int | quote }} }
            {{- end }}
            {{- if $sendsEvents }}
            - { name: PORTCULLIS_EVENTS_URL, value: {{ $own.events.url | quote }} }
            - { name: PORTCULLIS_EVENTS_SECRET_FILE, value: /etc/portcullis/events/secret }
            {{- end }}
            {{- if $storesEvents }}
            - { name: PORTCULLIS_EVENTS_NATS_URL, value: {{ $nats.url | quote }} }
            - { name: PORTCULLIS_EVENTS_NATS_STREAM, value: {{ $nats.stream | quote }} }
            {{- if $nats.credentials.existingSecret }}
            - { name: PORTCULLIS_EVENTS_NATS_CREDENTIALS_FILE, value: /etc/portcullis/nats/creds }
            {{- end }}
            {{- if $nats.authorities.existingConfigMap }}
            - { name: PORTCULLIS_EVENTS_NATS_CA_FILE, value: /etc/portcullis/nats-authorities/ca.crt }
            {{- end }}
            {{- end }}
            {{- if not $isWorker }}{{- with include "portcullis.tracesEnv" $ | trim }}{{ . | nindent 12 }}{{- end }}{{- end }}
            {{- if or $sendsEvents $storesEvents }}
            - { name: PORTCULLIS_EVENTS_SOURCE, value: {{ $own.events.source | quote }} }
            {{- end }}
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
          # It queries the database, and waits at first until the worker has read all resources.
          readinessProbe: { httpGet: { path: /readyz, port: admin }, periodSeconds: 2, timeoutSeconds: 5 }
          {{- if not $isWorker }}
          # Keeps serving until every proxy has removed the replica from its table.
          lifecycle: { preStop: { sleep: { seconds: 5 } } }
          {{- end }}
          resources:
            {{- toYaml .resources | nindent 12 }}
          volumeMounts:
            {{- if not $isWorker }}{{- with include "portcullis.tlsMounts" $own | trim }}{{ . | nindent 12 }}{{- end }}{{- end }}
            - { name: catalogue, mountPath: /etc/portcullis/catalogue, readOnly: true }
            - { name: issuers, mountPath: /etc/portcullis/issuers, readOnly: true }
            - { name: database, mountPath: /etc/portcullis/database, readOnly: true }
            {{- include "portcullis.agentOpenFgaMount" $ | nindent 12 }}
            - { name: cursor-key, mountPath: /etc/portcullis/cursor-key, readOnly: true }
            {{- if eq $.Values.gateway.clientAuth "keys" }}
            - { name: gateway-key, mountPath: /etc/portcullis/gateway-key, readOnly: true }
            {{- end }}
            {{- if $judges }}
            - { name: guard, mountPath: /etc/portcullis/guard, readOnly: true }
            - { name: runtime-token, mountPath: /etc/portcullis/runtime-token, readOnly: true }
            {{- end }}
            {{- if $sendsEvents }}
            - { name: events, mountPath: /etc/portcullis/events, readOnly: true }
            {{- end }}
            {{- if and $storesEvents $nats.credentials.existingSecret }}
            - { name: nats, mountPath: /etc/portcullis/nats, readOnly: true }
            {{- end }}
            {{- if and $storesEvents $nats.authorities.existingConfigMap }}
            - { name: nats-authorities, mountPath: /etc/portcullis/nats-authorities, readOnly: true }
            {{- end }}
            {{- if not $isWorker }}{{- with include "portcullis.tracesMounts" $ | trim }}{{ . | nindent 12 }}{{- end }}{{- end }}
            {{- if $.Values.trustedAuthorities.existingConfigMap }}
            - { name: authorities, mountPath: /etc/portcullis/authorities, readOnly: true }
            {{- end }}
      volumes:
        {{- if not $isWorker }}{{- with include "portcullis.tlsVolumes" $own | trim }}{{ . | nindent 8 }}{{- end }}{{- end }}
        - name: catalogue
          configMap: { name: {{ $service | quote }}, items: [{ key: models.yaml, path: models.yaml }] }
        - name: issuers
          configMap: { name: {{ $service }}-issuers }
        {{- include "portcullis.databaseVolume" $ | nindent 8 }}
        {{- include "portcullis.agentOpenFgaVolume" $ | nindent 8 }}
        - name: cursor-key
          secret:
            secretName: {{ include "portcullis.cursorKeySecret" $ | quote }}
            defaultMode: 0440
            items: [{ key: key, path: key }]
        {{- if eq $.Values.gateway.clientAuth "keys" }}
        - name: gateway-key
          secret:
            secretName: {{ default (include "portcullis.clientKeysSecret" $) $own.gatewayKey.existingSecret | quote }}
            defaultMode: 0440
            items: [{ key: {{ ternary "token" "catalogue" (ne $own.gatewayKey.existingSecret "") }}, path: token }]
        {{- end }}
        {{- if $judges }}
        # The operator writes it once the policy is served; until then the pod waits.
        - name: guard
          configMap: { name: portcullis-served-{{ $own.guard.servedPolicy }}, items: [{ key: target.json, path: target.json }] }
        - name: runtime-token
          secret: { secretName: {{ include "portcullis.runtimeTokenSecret" $ | quote }}, defaultMode: 0440 }
        {{- end }}
        {{- if $sendsEvents }}
        - name: events
          secret: { secretName: {{ $own.events.secret.existingSecret | quote }}, defaultMode: 0440, items: [{ key: secret, path: secret }] }
        {{- end }}
        {{- if $storesEvents }}
        {{- with $nats.credentials.existingSecret }}
        - name: nats
          secret: { secretName: {{ . | quote }}, defaultMode: 0440, items: [{ key: creds, path: creds }] }
        {{- end }}
        {{- with $nats.authorities.existingConfigMap }}
        - name: nats-authorities
          configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
        {{- end }}
        {{- end }}
        {{- if not $isWorker }}{{- with include "portcullis.tracesVolumes" $ | trim }}{{ . | nindent 8 }}{{- end }}{{- end }}
        {{- include "portcullis.authoritiesVolume" $ | nindent 8 }}
---
# This port is separate from the one for clients, because metrics are only for the cluster.
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
