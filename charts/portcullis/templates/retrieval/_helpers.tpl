{{/* Components of the retrieval service, as a list in YAML; none if it is disabled. */}}
{{- define "portcullis.retrievalComponents" -}}
{{- if .Values.retrieval.enabled -}}
- retrieval
{{- if gt (int .Values.retrieval.worker.replicas) 0 }}
- worker
{{- end }}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* Replicas of API and worker together. */}}
{{- define "portcullis.retrievalPods" -}}
{{- add (int .Values.retrieval.replicas) (int .Values.retrieval.worker.replicas) -}}
{{- end -}}

{{/* Whether staged documents are in a claim that one pod may write. */}}
{{- define "portcullis.retrievalIsAlone" -}}
{{- with .Values.retrieval.staging -}}
{{- if and (eq .store "claim") (eq .claim.accessMode "ReadWriteOnce") -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* MiB of the index in the memory of a replica: none with OpenSearch. */}}
{{- define "portcullis.indexMemory" -}}
{{- ternary 0 (int .indexMib) (ne .opensearch.url "") -}}
{{- end -}}

{{/* MiB of heap: three quarters of what the index leaves of the memory limit. */}}
{{- define "portcullis.retrievalHeap" -}}
{{- with include "portcullis.memoryMib" .resources -}}
{{- div (mul (sub (int .) (include "portcullis.indexMemory" $ | int)) 3) 4 -}}
{{- end -}}
{{- end -}}

{{/* Refuses values of the retrieval service that a schema cannot. */}}
{{- define "portcullis.checkRetrieval" -}}
{{- $pods := include "portcullis.retrievalPods" . | int -}}
{{- with .Values.retrieval -}}
{{- include "portcullis.checkIssuers" (dict "path" "retrieval.issuers" "issuers" .issuers) -}}
{{- if and (eq .relations "openfga") (not .openfga.url) -}}
{{- fail "retrieval.openfga.url must be set where retrieval.relations is openfga" -}}
{{- end -}}
{{- if and (eq $.Values.gateway.clientAuth "keys") $.Values.gateway.clientKeys.existingSecret (not .gatewayKey.existingSecret) -}}
{{- fail "retrieval.gatewayKey.existingSecret must name the Secret of a client key where gateway.clientKeys.existingSecret is set" -}}
{{- end -}}
{{- if and (include "portcullis.retrievalIsAlone" $) (gt $pods 1) -}}
{{- fail (printf "retrieval: %d pods cannot share a staging claim of the access mode ReadWriteOnce: set retrieval.staging.store=s3, or retrieval.staging.claim.accessMode=ReadWriteMany" $pods) -}}
{{- end -}}
{{- if and (eq .staging.store "s3") (not (and .s3.url .s3.bucket)) -}}
{{- fail "retrieval.s3.url and retrieval.s3.bucket must be set where retrieval.staging.store is s3" -}}
{{- end -}}
{{- if and .s3.url (not .s3.credentials.existingSecret) -}}
{{- fail "retrieval.s3.credentials.existingSecret must name the Secret of the keys for retrieval.s3.url" -}}
{{- end -}}
{{- if .guard.servedPolicy -}}
{{- $served := list -}}
{{- range $.Values.servedPolicies }}{{ $served = append $served .name }}{{ end -}}
{{- if not (has .guard.servedPolicy $served) -}}
{{- fail (printf "retrieval.guard.servedPolicy: %s is not in servedPolicies: add it there" .guard.servedPolicy) -}}
{{- end -}}
{{- end -}}
{{- $index := dict "service" "retrieval" "indexMib" (include "portcullis.indexMemory" .) "times" 1 "besides" 512 "rule" "512Mi, and indexMib without OpenSearch" -}}
{{- include "portcullis.checkIndexLimit" (merge (dict "path" "retrieval.resources" "resources" .resources) $index) -}}
{{- with .opensearch -}}
{{- if and (not .url) (or .user .credentials.existingSecret .authorities.existingConfigMap) -}}
{{- fail "retrieval.opensearch.url must be set where other values of retrieval.opensearch are" -}}
{{- end -}}
{{- if ne (empty .user) (empty .credentials.existingSecret) -}}
{{- fail "retrieval.opensearch.user and retrieval.opensearch.credentials.existingSecret must be set together" -}}
{{- end -}}
{{- if and (or .user .authorities.existingConfigMap) (not (hasPrefix "https://" .url)) -}}
{{- fail "retrieval.opensearch.url must begin with https:// where a user or authorities are set: a password is sent to no server without TLS" -}}
{{- end -}}
{{- end -}}
{{- range $kind := list "embedding" "rerank" "rewrite" -}}
{{- $ids := list -}}
{{- range get $.Values.retrieval.profiles $kind -}}
{{- if has .id $ids }}{{ fail (printf "retrieval.profiles.%s: %s is listed twice" $kind .id) }}{{ end -}}
{{- $ids = append $ids .id -}}
{{- end -}}
{{- end -}}
{{- if and (eq .staging.store "claim") (not .staging.claim.storageClassName) -}}
{{- if not (lookup "v1" "PersistentVolumeClaim" $.Release.Namespace (include "portcullis.stagingClaim" $)) -}}
{{- if include "portcullis.lacksDefaultClass" $ -}}
{{- fail "staged documents have no storage: this cluster has no default StorageClass. Set retrieval.staging.claim.storageClassName, or retrieval.staging.store=s3" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.stagingClaim" -}}
{{- printf "%s-retrieval-staging" (include "portcullis.fullname" .) -}}
{{- end -}}

{{/* Settings of one process of the retrieval service: (dict "context" $ "role" role) */}}
{{- define "portcullis.retrievalEnvironment" -}}
{{- $ := .context -}}
{{- $role := .role -}}
{{- with $.Values.retrieval -}}
- { name: PORTCULLIS_LISTEN, value: "0.0.0.0:8080" }
- { name: PORTCULLIS_ADMIN_LISTEN, value: "0.0.0.0:9090" }
{{- if ne $role "worker" }}{{- with include "portcullis.tlsEnv" . | trim }}{{ . | nindent 0 }}{{- end }}{{- end }}
- { name: PORTCULLIS_ROLE, value: {{ $role }} }
{{- if and (include "portcullis.managesCollections" $) (ne $role "worker") }}
- { name: PORTCULLIS_INTERNAL_LISTEN, value: "0.0.0.0:8081" }
- { name: PORTCULLIS_INTERNAL_TOKEN_FILE, value: /etc/portcullis/collections-token/token }
{{- end }}
- { name: PORTCULLIS_IDENTITY, value: production }
- { name: PORTCULLIS_ISSUERS_FILE, value: /etc/portcullis/issuers/issuers.yaml }
- { name: PORTCULLIS_DATABASE_URL, value: {{ include "portcullis.databaseUrl" $ | quote }} }
- { name: PORTCULLIS_DATABASE_PASSWORD_FILE, value: /etc/portcullis/database/password }
- { name: PORTCULLIS_RELATIONS, value: {{ .relations }} }
{{- if eq .relations "openfga" }}
- { name: PORTCULLIS_OPENFGA_URL, value: {{ .openfga.url | quote }} }
- { name: PORTCULLIS_OPENFGA_STORE, value: {{ .openfga.store | quote }} }
{{- if .openfga.token.existingSecret }}
- { name: PORTCULLIS_OPENFGA_TOKEN_FILE, value: /etc/portcullis/openfga/token }
{{- end }}
{{- end }}
- { name: PORTCULLIS_MODEL_GATEWAY_URL, value: {{ include "portcullis.gatewayUrl" $ | quote }} }
{{- if eq $.Values.gateway.clientAuth "keys" }}
- { name: PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE, value: /etc/portcullis/gateway-key/token }
{{- end }}
- { name: PORTCULLIS_MODELS_FILE, value: /etc/portcullis/retrieval/models.yaml }
- { name: PORTCULLIS_CONTENT_SOURCES_FILE, value: /etc/portcullis/retrieval/content-sources.yaml }
{{- if and .guard.servedPolicy (ne $role "api") }}
- { name: PORTCULLIS_GUARD_TARGET_FILE, value: /etc/portcullis/guard/target.json }
- { name: PORTCULLIS_RUNTIME_TOKEN_FILE, value: /etc/portcullis/runtime-token/token }
{{- end }}
{{- if eq .staging.store "claim" }}
# Below the mount, which belongs to root.
- { name: PORTCULLIS_OBJECTS_DIR, value: /var/lib/portcullis/staging/objects }
{{- else }}
- { name: PORTCULLIS_S3_BUCKET, value: {{ .s3.bucket | quote }} }
{{- end }}
{{- if .s3.url }}
- { name: PORTCULLIS_S3_URL, value: {{ .s3.url | quote }} }
- { name: PORTCULLIS_S3_REGION, value: {{ .s3.region | quote }} }
- { name: PORTCULLIS_S3_ACCESS_KEY_FILE, value: /etc/portcullis/s3/access-key }
- { name: PORTCULLIS_S3_SECRET_KEY_FILE, value: /etc/portcullis/s3/secret-key }
{{- if .s3.authorities.existingConfigMap }}
- { name: PORTCULLIS_S3_CA_FILE, value: /etc/portcullis/s3-authorities/ca.crt }
{{- end }}
{{- end }}
{{- if .nats.url }}
- { name: PORTCULLIS_NATS_URL, value: {{ .nats.url | quote }} }
- { name: PORTCULLIS_NATS_STREAM, value: {{ .nats.stream | quote }} }
{{- if .nats.credentials.existingSecret }}
- { name: PORTCULLIS_NATS_CREDENTIALS_FILE, value: /etc/portcullis/nats/creds }
{{- end }}
{{- if .nats.authorities.existingConfigMap }}
- { name: PORTCULLIS_NATS_CA_FILE, value: /etc/portcullis/nats-authorities/ca.crt }
{{- end }}
{{- end }}
{{- if .opensearch.url }}
- { name: PORTCULLIS_OPENSEARCH_URL, value: {{ .opensearch.url | quote }} }
- { name: PORTCULLIS_OPENSEARCH_PREFIX, value: {{ .opensearch.prefix | quote }} }
{{- if .opensearch.user }}
- { name: PORTCULLIS_OPENSEARCH_USER, value: {{ .opensearch.user | quote }} }
- { name: PORTCULLIS_OPENSEARCH_PASSWORD_FILE, value: /etc/portcullis/opensearch/password }
{{- end }}
{{- if .opensearch.authorities.existingConfigMap }}
- { name: PORTCULLIS_OPENSEARCH_CA_FILE, value: /etc/portcullis/opensearch-authorities/ca.crt }
{{- end }}
{{- end }}
- { name: PORTCULLIS_INDEX_MIB, value: {{ .indexMib | int | quote }} }
- { name: PORTCULLIS_INGEST_CONCURRENCY, value: {{ .ingestConcurrency | int | quote }} }
- { name: PORTCULLIS_AUDIT_DAYS, value: {{ .auditDays | quote }} }
{{- with include "portcullis.auditExportEnv" $ | trim }}{{ . | nindent 0 }}{{- end }}
{{- with include "portcullis.tracesEnv" $ | trim }}{{ . | nindent 0 }}{{- end }}
- { name: PORTCULLIS_TENANT_COLLECTIONS, value: {{ .quotas.tenantCollections | int64 | quote }} }
- { name: PORTCULLIS_TENANT_DOCUMENTS, value: {{ .quotas.tenantDocuments | int64 | quote }} }
- { name: PORTCULLIS_TENANT_OPEN_JOBS, value: {{ .quotas.tenantOpenJobs | int64 | quote }} }
- { name: PORTCULLIS_TENANT_MIB, value: {{ .quotas.tenantMib | int64 | quote }} }
- { name: PORTCULLIS_EMPTY_ACL_POLICY, value: {{ .emptyAclPolicy }} }
- { name: PORTCULLIS_LOG_LEVEL, value: {{ .logLevel }} }
{{- if $.Values.trustedAuthorities.existingConfigMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/portcullis/authorities/ca.crt }
{{- end }}
{{- end -}}
{{- end -}}

{{/* Volumes of a process; each is mounted at the path of retrievalMounts: (dict "context" $ "role" role) */}}
{{- define "portcullis.retrievalVolumes" -}}
{{- $ := .context -}}
{{- $role := .role -}}
{{- with $.Values.retrieval -}}
- name: retrieval
  configMap:
    name: {{ include "portcullis.fullname" $ }}-retrieval
    items: [{ key: models.yaml, path: models.yaml }, { key: content-sources.yaml, path: content-sources.yaml }]
- name: issuers
  configMap: { name: {{ include "portcullis.fullname" $ }}-retrieval-issuers }
- name: database
  secret:
    secretName: {{ include "portcullis.databaseSecret" $ | quote }}
    defaultMode: 0440
    items: [{ key: password, path: password }]
{{- if ne $role "worker" }}{{- with include "portcullis.tlsVolumes" . | trim }}{{ . | nindent 0 }}{{- end }}{{- end }}
{{- with include "portcullis.auditExportVolumes" $ | trim }}{{ . | nindent 0 }}{{- end }}
{{- with include "portcullis.tracesVolumes" $ | trim }}{{ . | nindent 0 }}{{- end }}
{{- if eq $.Values.gateway.clientAuth "keys" }}
- name: gateway-key
  secret:
    secretName: {{ default (include "portcullis.clientKeysSecret" $) .gatewayKey.existingSecret | quote }}
    defaultMode: 0440
    items: [{ key: {{ ternary "token" "retrieval" (ne .gatewayKey.existingSecret "") }}, path: token }]
{{- end }}
{{- if and (include "portcullis.managesCollections" $) (ne $role "worker") }}
- name: collections-token
  secret:
    secretName: {{ include "portcullis.collectionsTokenSecret" $ | quote }}
    defaultMode: 0440
    items: [{ key: token, path: token }]
{{- end }}
{{- if eq .staging.store "claim" }}
- name: staging
  persistentVolumeClaim: { claimName: {{ include "portcullis.stagingClaim" $ | quote }} }
{{- end }}
{{- if and .guard.servedPolicy (ne $role "api") }}
# The operator writes it once the policy is served; until then the pod waits.
- name: guard
  configMap: { name: portcullis-served-{{ .guard.servedPolicy }}, items: [{ key: target.json, path: target.json }] }
- name: runtime-token
  secret: { secretName: {{ include "portcullis.runtimeTokenSecret" $ | quote }}, defaultMode: 0440 }
{{- end }}
{{- if and (eq .relations "openfga") .openfga.token.existingSecret }}
- name: openfga
  secret: { secretName: {{ .openfga.token.existingSecret | quote }}, defaultMode: 0440, items: [{ key: token, path: token }] }
{{- end }}
{{- if .s3.url }}
- name: s3
  secret:
    secretName: {{ .s3.credentials.existingSecret | quote }}
    defaultMode: 0440
    items: [{ key: access-key, path: access-key }, { key: secret-key, path: secret-key }]
{{- with .s3.authorities.existingConfigMap }}
- name: s3-authorities
  configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end }}
{{- if .nats.url }}
{{- with .nats.credentials.existingSecret }}
- name: nats
  secret: { secretName: {{ . | quote }}, defaultMode: 0440, items: [{ key: creds, path: creds }] }
{{- end }}
{{- with .nats.authorities.existingConfigMap }}
- name: nats-authorities
  configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end }}
{{- with .opensearch.credentials.existingSecret }}
- name: opensearch
  secret: { secretName: {{ . | quote }}, defaultMode: 0440, items: [{ key: password, path: password }] }
{{- end }}
{{- with .opensearch.authorities.existingConfigMap }}
- name: opensearch-authorities
  configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end }}
{{ include "portcullis.authoritiesVolume" $ }}
{{- end -}}

{{/* One mount for each volume: only staged documents are written. */}}
{{- define "portcullis.retrievalMounts" -}}
{{- range include "portcullis.retrievalVolumes" . | fromYamlArray }}
{{- if eq .name "staging" }}
- { name: staging, mountPath: /var/lib/portcullis/staging }
{{- else }}
- { name: {{ .name }}, mountPath: /etc/portcullis/{{ .name }}, readOnly: true }
{{- end }}
{{- end }}
{{- end -}}

{{/* A Deployment of one role, with its budget and the Service of its metrics:
     (dict "context" $ "component" name "suffix" suffix "role" role "replicas" count "values" values "heap" MiB) */}}
{{- define "portcullis.retrievalRole" -}}
{{- $ := .context -}}
{{- $name := printf "%s-%s" (include "portcullis.fullname" $) .suffix -}}
{{- $issuers := include "portcullis.issuersWithAgents" (dict "context" $ "issuers" $.Values.retrieval.issuers "service" "retrieval") | fromYaml -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "portcullis.labels" (list $ .component) | nindent 4 }}
spec:
  replicas: {{ .replicas }}
  revisionHistoryLimit: 3
  {{- if include "portcullis.retrievalIsAlone" $ }}
  # The claim of staged documents is written by one pod: the next one starts when the previous one has ended.
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
        {{- if and $.Values.retrieval.guard.servedPolicy (ne .role "api") }}
        {{- include "portcullis.runtimeClientLabel" $ | nindent 8 }}
        {{- end }}
      annotations:
        {{- with .values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        # Issuers are read at the start; key sets, profiles and content sources are followed on change.
        checksum/issuers: {{ get $issuers "issuers.yaml" | sha256sum }}
    spec:
      serviceAccountName: {{ include "portcullis.fullname" $ }}-retrieval
      # It calls no API server.
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- include "portcullis.imagePullSecrets" $ | nindent 6 }}
      securityContext:
        {{- include "portcullis.podSecurityContext" $ | nindent 8 }}
      {{- include "portcullis.placement" (dict "context" $ "component" .component "values" .values) | nindent 6 }}
      # Requests in flight have 15 s; then a job of a worker returns to the other workers.
      terminationGracePeriodSeconds: 60
      containers:
        - name: {{ .component }}
          image: {{ include "portcullis.image" $ }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
          command: [node, dataplane/retrieval/main.ts]
          securityContext:
            {{- include "portcullis.securityContext" $ | nindent 12 }}
          ports:
            {{- if ne .role "worker" }}
            - { name: http, containerPort: 8080 }
            {{- if include "portcullis.managesCollections" $ }}
            - { name: internal, containerPort: 8081 }
            {{- end }}
            {{- end }}
            - { name: admin, containerPort: 9090 }
          env:
            {{- include "portcullis.retrievalEnvironment" . | nindent 12 }}
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
            {{- toYaml .values.resources | nindent 12 }}
          volumeMounts:
            {{- include "portcullis.retrievalMounts" . | trim | nindent 12 }}
      volumes:
        {{- include "portcullis.retrievalVolumes" . | trim | nindent 8 }}
{{- if and .values.podDisruptionBudget.enabled (gt (int .replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "portcullis.labels" (list $ .component) | nindent 4 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
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
