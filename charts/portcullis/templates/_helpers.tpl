{{- define "portcullis.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "portcullis.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "portcullis.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "portcullis.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of every object: (list context component) */}}
{{- define "portcullis.labels" -}}
{{- $ := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ $.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $.Release.Service }}
{{ include "portcullis.selectorLabels" . }}
{{- with $.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels that selectors use; they never change: (list context component) */}}
{{- define "portcullis.selectorLabels" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ include "portcullis.name" $ | quote }}
app.kubernetes.io/instance: {{ $.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
app.kubernetes.io/part-of: portcullis
{{- end -}}

{{/* Pods that may call runtimes. Every workload that was ever made admits this label: it never changes. */}}
{{- define "portcullis.runtimeClientLabel" -}}
portcullis.dev/runtime-client: "true"
{{- end -}}

{{- define "portcullis.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.postgresImage" -}}
{{- with .Values.postgresql.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (coalesce .tag $.Values.image.tag $.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.imagePullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "portcullis.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ . | int64 }}
runAsGroup: {{ . | int64 }}
fsGroup: {{ . | int64 }}
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "portcullis.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Where pods go: (dict "context" $ "component" name "values" values) */}}
{{- define "portcullis.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- if .values.topologySpread }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "portcullis.selectorLabels" (list .context .component) | nindent 8 }}
    # During a rollout the pods that go do not count.
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end -}}

{{/* The memory limit in MiB; nothing where it is in another form. */}}
{{- define "portcullis.memoryMib" -}}
{{- $limit := dig "limits" "memory" "" . | toString -}}
{{- if regexMatch "^[0-9]+Mi$" $limit -}}
{{- trimSuffix "Mi" $limit -}}
{{- else if regexMatch "^[0-9]+Gi$" $limit -}}
{{- mul (trimSuffix "Gi" $limit | int) 1024 -}}
{{- end -}}
{{- end -}}

{{/* Refuses a memory limit below what an index needs, and names both remedies:
     (dict "path" path of the resources "service" name "resources" resources "indexMib" MiB "times" count "besides" MiB "rule" text) */}}
{{- define "portcullis.checkIndexLimit" -}}
{{- $least := add (mul (int .times) (int .indexMib)) (int .besides) -}}
{{- $fits := 0 -}}
{{- $limit := include "portcullis.memoryMib" .resources -}}
{{- if and $limit (lt (int $limit) (int $least)) -}}
{{- if gt (int .indexMib) 0 }}{{ $fits = div (sub (int $limit) (int .besides)) (int .times) }}{{ end -}}
{{- $lower := ternary (printf ", or lower %s.indexMib to %d" .service $fits) "" (ge (int $fits) 16) -}}
{{- fail (printf "%s.limits.memory must be at least %dMi: %s; raise it%s" .path $least .rule $lower) -}}
{{- end -}}
{{- end -}}

{{/* Megabytes of heap, three quarters of the memory limit, as for runtimes; nothing where the limit is in another form. */}}
{{- define "portcullis.heap" -}}
{{- with include "portcullis.memoryMib" . -}}
{{- div (mul (int .) 3) 4 -}}
{{- end -}}
{{- end -}}

{{/*
Options of Node for a heap of this many megabytes. The young generation is bounded: by default it takes up to 128 MiB, and
the old one is collected without a pause as soon as what is free of it is less.
*/}}
{{- define "portcullis.heapOptions" -}}
--max-old-space-size={{ . }} --max-semi-space-size=16
{{- end -}}

{{/* Whether a service needs a database: the management API, the retrieval service, the memory service and the rights on agents share one. */}}
{{- define "portcullis.needsDatabase" -}}
{{- if or .Values.management.enabled .Values.retrieval.enabled .Values.memory.enabled .Values.agents.enabled -}}true{{- end -}}
{{- end -}}

{{/* Whether the database of this chart is deployed. */}}
{{- define "portcullis.postgresql" -}}
{{- if and (include "portcullis.needsDatabase" .) .Values.postgresql.enabled -}}true{{- end -}}
{{- end -}}

{{/* Whether no default StorageClass exists; without a cluster nothing is known. A list that was read has items, if only none. */}}
{{- define "portcullis.lacksDefaultClass" -}}
{{- $classes := lookup "storage.k8s.io/v1" "StorageClass" "" "" -}}
{{- $default := list -}}
{{- range $classes.items -}}
{{- $annotations := default dict .metadata.annotations -}}
{{- range list "storageclass.kubernetes.io/is-default-class" "storageclass.beta.kubernetes.io/is-default-class" -}}
{{- if eq (default "" (get $annotations .)) "true" -}}{{- $default = append $default . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (hasKey $classes "items") (not $default) -}}true{{- end -}}
{{- end -}}

{{/*
Files of trusted issuers, as data of a ConfigMap: a list of issuers. Processes read the list at their start and the key sets on
change, so that a key set is named after its issuer and not after its place: it never becomes that of another issuer.
*/}}
{{- define "portcullis.issuersData" -}}
{{- $issuers := list -}}
{{- $keys := dict -}}
{{- range $one := . -}}
{{- $entry := omit $one "jwks" -}}
{{- if hasKey $one "jwks" -}}
{{- $file := printf "jwks-%s.json" (sha256sum $one.issuer | trunc 16) -}}
{{- $_ := set $entry "jwksFile" $file -}}
{{- $_ := set $keys $file (kindIs "string" $one.jwks | ternary $one.jwks (toJson $one.jwks)) -}}
{{- end -}}
{{- $issuers = append $issuers $entry -}}
{{- end -}}
issuers.yaml: |
  {{- dict "issuers" $issuers | toYaml | nindent 2 }}
{{- range $file, $text := $keys }}
{{ $file }}: {{ $text | quote }}
{{- end }}
{{- end -}}

{{/* Refuses issuers that a schema cannot: (dict "path" "management.issuers" "issuers" list) */}}
{{- define "portcullis.checkIssuers" -}}
{{- $path := .path -}}
{{- $issuers := list -}}
{{- range .issuers -}}
{{- if has .issuer $issuers }}{{ fail (printf "%s: %s is listed twice" $path .issuer) }}{{ end -}}
{{- $issuers = append $issuers .issuer -}}
{{- $keys := get . "jwks" -}}
{{- if kindIs "string" $keys }}{{ $keys = ternary (dict "keys" list) (fromJson $keys) (eq $keys "") }}{{ end -}}
{{- if hasKey . "jwks" -}}
{{- if not (and (kindIs "map" $keys) (kindIs "slice" (get $keys "keys"))) -}}
{{- fail (printf "%s: jwks of %s must be a JSON Web Key Set: an object with the list keys" $path .issuer) -}}
{{- end -}}
{{- range $keys.keys -}}
{{- if or (not (kindIs "map" .)) (hasKey . "d") (hasKey . "k") -}}
{{- fail (printf "%s: jwks must hold only public keys: a key with the member d or k is private" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.databaseUrl" -}}
{{- if .Values.postgresql.enabled -}}
{{- printf "postgres://portcullis@%s-postgres.%s.svc:5432/portcullis" (include "portcullis.fullname" .) .Release.Namespace -}}
{{- else -}}
{{- .Values.externalDatabase.url -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.databaseSecret" -}}
{{- if .Values.postgresql.enabled -}}
{{- default (printf "%s-postgres" (include "portcullis.fullname" .)) .Values.postgresql.password.existingSecret -}}
{{- else -}}
{{- .Values.externalDatabase.password.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.storageBytes" -}}
{{- $size := .Values.postgresql.storage.size -}}
{{- $units := dict "M" 1000000 "G" 1000000000 "T" 1000000000000 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := regexFind "[A-Za-z]+$" $size -}}
{{- mul (trimSuffix $unit $size | int64) (get $units $unit) -}}
{{- end -}}

{{/* The claim that the StatefulSet makes for its one pod. */}}
{{- define "portcullis.postgresClaim" -}}
{{- printf "data-%s-postgres-0" (include "portcullis.fullname" .) -}}
{{- end -}}

{{/* Where the management API is, for pods of the cluster. */}}
{{- define "portcullis.managementUrl" -}}
{{- printf "%s://%s-management.%s.svc:%v" (include "portcullis.scheme" .Values.management) (include "portcullis.fullname" .) .Release.Namespace .Values.management.service.port -}}
{{- end -}}

{{- define "portcullis.runtimeTokenSecret" -}}
{{- default (printf "%s-runtime-token" (include "portcullis.fullname" .)) .Values.runtimeToken.existingSecret -}}
{{- end -}}

{{- define "portcullis.adminTokenSecret" -}}
{{- default (printf "%s-admin-token" (include "portcullis.fullname" .)) .Values.adminToken.existingSecret -}}
{{- end -}}

{{- define "portcullis.clientKeysSecret" -}}
{{- default (printf "%s-client-keys" (include "portcullis.fullname" .)) .Values.gateway.clientKeys.existingSecret -}}
{{- end -}}

{{/* Whether Helm adds a client key of the retrieval service to those that it generates. */}}
{{- define "portcullis.generatesRetrievalKey" -}}
{{- if and .Values.retrieval.enabled (eq .Values.gateway.clientAuth "keys") (not .Values.gateway.clientKeys.existingSecret) (not .Values.retrieval.gatewayKey.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* The Secret of the keys with which the gateway signs the identities of agents. */}}
{{- define "portcullis.agentKeysSecret" -}}
{{- default (printf "%s-agent-keys" (include "portcullis.fullname" .)) .Values.agents.signingKeys.existingSecret -}}
{{- end -}}

{{/* The gateway as an issuer of agents that call a service, with its own issuers: (dict "context" $ "issuers" list "service" name) */}}
{{- define "portcullis.issuersWithAgents" -}}
{{- $issuers := .issuers -}}
{{- with .context.Values.agents -}}
{{- if .enabled -}}
{{- $keys := printf "%s/.well-known/jwks.json" (include "portcullis.gatewayUrl" $.context) -}}
{{- $own := dict "issuer" .issuer "audience" (printf "urn:portcullis:%s" $.service) "serviceJwksUrl" $keys "subjectIssuerClaim" "sub_iss" "tenantsClaim" "tenants" "groupsClaim" "groups" -}}
{{- $issuers = append $issuers $own -}}
{{- end -}}
{{- end -}}
{{- include "portcullis.issuersData" $issuers -}}
{{- end -}}

{{/* The database of the rights on agents, as variables of a container. */}}
{{- define "portcullis.agentRights" -}}
- { name: PORTCULLIS_AGENT_ISSUER, value: {{ .Values.agents.issuer | quote }} }
- { name: PORTCULLIS_DATABASE_URL, value: {{ include "portcullis.databaseUrl" . | quote }} }
- { name: PORTCULLIS_DATABASE_PASSWORD_FILE, value: /etc/portcullis/database/password }
{{- include "portcullis.agentOpenFga" . }}
{{- end -}}

{{/* The OpenFGA server of the rights on agents, as variables of a container; nothing where they are in the database. */}}
{{- define "portcullis.agentOpenFga" -}}
{{- with .Values.agents -}}
{{- if eq .relations "openfga" }}
- { name: PORTCULLIS_RELATIONS, value: openfga }
- { name: PORTCULLIS_OPENFGA_URL, value: {{ .openfga.url | quote }} }
- { name: PORTCULLIS_OPENFGA_STORE, value: {{ .openfga.store | quote }} }
{{- if .openfga.token.existingSecret }}
- { name: PORTCULLIS_OPENFGA_TOKEN_FILE, value: /etc/portcullis/openfga/token }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The Secret with the token of that server, or an empty text. */}}
{{- define "portcullis.agentOpenFgaSecret" -}}
{{- with .Values.agents -}}
{{- if and .enabled (eq .relations "openfga") }}{{ .openfga.token.existingSecret }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.agentOpenFgaVolume" -}}
{{- with include "portcullis.agentOpenFgaSecret" . -}}
- name: openfga
  secret: { secretName: {{ . | quote }}, defaultMode: 0440, items: [{ key: token, path: token }] }
{{- end -}}
{{- end -}}

{{- define "portcullis.agentOpenFgaMount" -}}
{{- if include "portcullis.agentOpenFgaSecret" . -}}
- { name: openfga, mountPath: /etc/portcullis/openfga, readOnly: true }
{{- end -}}
{{- end -}}

{{- define "portcullis.databaseVolume" -}}
- name: database
  secret:
    secretName: {{ include "portcullis.databaseSecret" . | quote }}
    defaultMode: 0440
    items: [{ key: password, path: password }]
{{- end -}}

{{/* Whether Helm adds a client key of agents to those that it generates. */}}
{{- define "portcullis.generatesAgentsKey" -}}
{{- if and .Values.agents.enabled (eq .Values.gateway.clientAuth "keys") (not .Values.gateway.clientKeys.existingSecret) (not .Values.agents.gatewayKey.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* Whether the operator manages collections of resources. */}}
{{- define "portcullis.managesCollections" -}}
{{- if and .Values.retrieval.enabled .Values.retrieval.collections.tenants -}}true{{- end -}}
{{- end -}}

{{- define "portcullis.collectionsTokenSecret" -}}
{{- default (printf "%s-collections-token" (include "portcullis.fullname" .)) .Values.retrieval.collections.token.existingSecret -}}
{{- end -}}

{{/* Where the retrieval service is, for pods of the cluster. */}}
{{- define "portcullis.retrievalUrl" -}}
{{- printf "%s://%s-retrieval.%s.svc:%v" (include "portcullis.scheme" .Values.retrieval) (include "portcullis.fullname" .) .Release.Namespace .Values.retrieval.service.port -}}
{{- end -}}

{{- define "portcullis.cookieKeySecret" -}}
{{- default (printf "%s-console-key" (include "portcullis.fullname" .)) .Values.console.cookieKey.existingSecret -}}
{{- end -}}

{{- define "portcullis.environmentName" -}}
{{- printf "%s-environment" (include "portcullis.fullname" .) -}}
{{- end -}}

{{/* Where the gateway is, for pods of the cluster. */}}
{{- define "portcullis.gatewayUrl" -}}
{{- printf "%s://%s-gateway.%s.svc:%v" (include "portcullis.scheme" .Values.gateway) (include "portcullis.fullname" .) .Release.Namespace .Values.gateway.service.port -}}
{{- end -}}

{{/* Credentials of providers, mounted by name and never read from the API. */}}
{{- define "portcullis.credentialsVolume" -}}
- name: credentials
  {{- if .Values.providerCredentials.existingSecret }}
  secret: { secretName: {{ .Values.providerCredentials.existingSecret | quote }}, defaultMode: 0440 }
  {{- else }}
  emptyDir: { sizeLimit: 1Mi }
  {{- end }}
{{- end -}}

{{/* Authorities beside those of the system, which Node.js reads at its start. */}}
{{- define "portcullis.authoritiesVolume" -}}
{{- with .Values.trustedAuthorities.existingConfigMap }}
- name: authorities
  configMap: { name: {{ . | quote }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end -}}

{{/* Whether this release installs the policies that name the users who make changes: the cluster serves them. */}}
{{- define "portcullis.namesUsers" -}}
{{- if and .Values.admissionPolicies.install (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy") -}}true{{- end -}}
{{- end -}}

{{/* The same as a variable of a container. */}}
{{- define "portcullis.changeAuthors" -}}
{{- if include "portcullis.namesUsers" . }}
- { name: PORTCULLIS_CHANGE_AUTHORS, value: admission }
{{- end }}
{{- end -}}

{{/* An object that is of the whole cluster stays when the release goes: (list context text) */}}
{{- define "portcullis.kept" -}}
{{- $ := index . 0 -}}
{{- range $document := regexSplit "(?m)^---\\s*$" (index . 1) -1 }}
{{- with fromYaml $document }}
{{- $_ := set .metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") (default dict .metadata.annotations)) }}
{{- $_ := set .metadata "labels" (merge (default dict .metadata.labels) (include "portcullis.labels" (list $ "definitions") | fromYaml)) }}
---
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "portcullis.example" -}}
{{- if and .Values.example.enabled .Values.echo.enabled -}}true{{- end -}}
{{- end -}}
