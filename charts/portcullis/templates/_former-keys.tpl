{{/*
Entries of the data of a ConfigMap: key sets under the names of an earlier release, jwks-NUMBER.json, as the ConfigMap in the cluster
has them. Pods of that release read these files again each second until they end, and accept no token without them. Empty if the ConfigMap
has no such key, and without a cluster: (list $ "name of the ConfigMap")
*/}}
{{- define "portcullis.formerKeys" -}}
{{- $ := index . 0 -}}
{{- range $file, $text := dig "data" dict (lookup "v1" "ConfigMap" $.Release.Namespace (index . 1)) -}}
{{- /* The present names have 16 characters there, which may all be digits. */ -}}
{{- if regexMatch "^jwks-[0-9]{1,15}\\.json$" $file }}
  {{ $file }}: {{ $text | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
