{{/* Scheme of a Service for clients: (the values of the component) */}}
{{- define "portcullis.scheme" -}}
{{- ternary "https" "http" (ne .tls.existingSecret "") -}}
{{- end -}}

{{/* The certificate of the address for clients, as variables of a container: (the values of the component) */}}
{{- define "portcullis.tlsEnv" -}}
{{- if .tls.existingSecret }}
- { name: PORTCULLIS_TLS_CERTIFICATE_FILE, value: /etc/portcullis/tls/tls.crt }
- { name: PORTCULLIS_TLS_KEY_FILE, value: /etc/portcullis/tls/tls.key }
{{- end }}
{{- end -}}

{{- define "portcullis.tlsMounts" -}}
{{- if .tls.existingSecret }}
- { name: tls, mountPath: /etc/portcullis/tls, readOnly: true }
{{- end }}
{{- end -}}

{{- define "portcullis.tlsVolumes" -}}
{{- with .tls.existingSecret }}
- name: tls
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
    items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }]
{{- end }}
{{- end -}}

{{/* Authorities of a pod of a hook, which calls a Service of the release: the variable, the mount and the volume. */}}
{{- define "portcullis.authoritiesEnv" -}}
{{- if .Values.trustedAuthorities.existingConfigMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/portcullis/authorities/ca.crt }
{{- end }}
{{- end -}}

{{- define "portcullis.authoritiesMount" -}}
{{- if .Values.trustedAuthorities.existingConfigMap }}
- { name: authorities, mountPath: /etc/portcullis/authorities, readOnly: true }
{{- end }}
{{- end -}}

{{/* Address of a forwarded port for curl; over TLS with the name that the certificate has: (list port url) */}}
{{- define "portcullis.forwarded" -}}
{{- $port := index . 0 -}}
{{- $url := index . 1 -}}
{{- if hasPrefix "https:" $url -}}
--cacert ca.crt --connect-to ::127.0.0.1:{{ $port }} {{ $url }}
{{- else -}}
http://127.0.0.1:{{ $port }}
{{- end -}}
{{- end -}}
