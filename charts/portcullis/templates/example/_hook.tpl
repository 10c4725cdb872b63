{{/* Once, after the installation, in this order; a run that failed is left to be looked at: (weight) */}}
{{- define "portcullis.exampleHook" -}}
helm.sh/hook: post-install
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
