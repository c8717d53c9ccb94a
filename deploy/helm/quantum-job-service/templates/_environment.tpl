{{/* A variable from a Secret. `one` is an entry of `secrets`. */}}
{{- define "qjs.secretVariable" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .one.name | default .root.Values.secrets.name }}
      key: {{ .one.key }}
{{- end -}}

{{/* What reaches the database: for api, worker and migration. */}}
{{- define "qjs.databaseEnvironment" -}}
{{- $secrets := .Values.secrets -}}
{{ include "qjs.secretVariable" (dict "root" . "variable" "DATABASE_URL" "one" $secrets.databaseUrl) }}
{{- if $secrets.databaseDirectUrl.key }}
{{ include "qjs.secretVariable" (dict "root" . "variable" "DATABASE_DIRECT_URL" "one" $secrets.databaseDirectUrl) }}
{{- end }}
{{- if not .Values.database.preparedStatements }}
- { name: DATABASE_PREPARED_STATEMENTS, value: "off" }
{{- end }}
{{- if not .Values.database.startupParameters }}
- { name: DATABASE_STARTUP_PARAMETERS, value: "off" }
{{- end }}
{{- end -}}

{{/* What api and worker have in common. `of` is `api` or `worker` of the values. */}}
{{- define "qjs.environment" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $secrets := $values.secrets -}}
{{ include "qjs.databaseEnvironment" $root }}
# The migration is a Job of its own: a process that migrates at its start could be killed while it does.
- { name: MIGRATE, value: check }
{{ include "qjs.secretVariable" (dict "root" $root "variable" "REDIS_URL" "one" $secrets.redisUrl) }}
{{- with $values.redis.tls }}
{{- include "qjs.variables" (dict "REDIS_TLS_CA" .ca "REDIS_TLS_CERT" .cert "REDIS_TLS_KEY" .key "REDIS_TLS_SERVER_NAME" .serverName) }}
{{- end }}
{{- with $values.contentStore }}
{{- if .url }}
{{- include "qjs.variables" (dict "CONTENT_STORE" .url "CONTENT_STORE_ENDPOINT" .endpoint "CONTENT_STORE_REGION" .region "CONTENT_STORE_LOCK" .lock) }}
{{- if $secrets.contentStoreAccessKeyId.key }}
{{ include "qjs.secretVariable" (dict "root" $root "variable" "CONTENT_STORE_ACCESS_KEY_ID" "one" $secrets.contentStoreAccessKeyId) }}
{{ include "qjs.secretVariable" (dict "root" $root "variable" "CONTENT_STORE_SECRET_ACCESS_KEY" "one" $secrets.contentStoreSecretAccessKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- with $values.temporal }}
{{- include "qjs.variables" (dict "TEMPORAL_ADDRESS" .address "TEMPORAL_NAMESPACE" .namespace "TEMPORAL_ATTRIBUTE_PREFIX" .attributePrefix) }}
{{- include "qjs.variables" (dict "TEMPORAL_TLS" (ternary "1" "" .tls.enabled) "TEMPORAL_TLS_CA" .tls.ca "TEMPORAL_TLS_CERT" .tls.cert "TEMPORAL_TLS_KEY" .tls.key "TEMPORAL_TLS_SERVER_NAME" .tls.serverName) }}
{{- end }}
{{- if $secrets.temporalApiKey.key }}
{{ include "qjs.secretVariable" (dict "root" $root "variable" "TEMPORAL_API_KEY" "one" $secrets.temporalApiKey) }}
{{- end }}
- name: EXECUTOR_URL
  value: {{ include "qjs.executorUrl" $root }}
{{ include "qjs.secretVariable" (dict "root" $root "variable" "EXECUTOR_TOKEN" "one" $secrets.executorToken) }}
{{ include "qjs.secretVariable" (dict "root" $root "variable" "SECRETS_KEYS" "one" $secrets.secretsKeys) }}
{{- if $secrets.smtpUrl.key }}
{{ include "qjs.secretVariable" (dict "root" $root "variable" "SMTP_URL" "one" $secrets.smtpUrl) }}
{{- end }}
- { name: PUBLIC_URL, value: {{ $values.publicUrl | quote }} }
{{- if $values.metrics.enabled }}
- { name: METRICS_HOST, value: {{ $values.listenAddress | quote }} }
{{- end }}
{{- if $values.auditCheckpoints.claimName }}
- { name: AUDIT_CHECKPOINTS_FILE, value: /var/lib/qjs/audit-checkpoints.jsonl }
{{- else if $values.auditCheckpoints.inContentStore }}
- { name: AUDIT_CHECKPOINTS_FILE, value: content-store }
{{- end }}
{{- include "qjs.variables" (merge (dict) .of.settings $values.settings) }}
{{- end -}}

{{/* Variables with a value, in the order of their names. Helm reads every number as a float, which it prints as 1e+06. */}}
{{- define "qjs.variables" -}}
{{- range $name, $value := . }}
{{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}
{{- $value = int64 $value }}
{{- end }}
{{- if ne (toString $value) "" }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* Every pool by its headless Service, whose name has the addresses of all its ready executors. */}}
{{- define "qjs.executorUrl" -}}
{{- $names := list -}}
{{- range .Values.executorPools -}}
{{- $names = append $names (printf "dns+http://%s:%s" (include "qjs.executorName" (dict "root" $ "pool" .)) (include "qjs.executorPort" $)) -}}
{{- end -}}
{{- join "," $names -}}
{{- end -}}

{{/* Volumes of api, worker and migration, and where they are mounted. */}}
{{- define "qjs.volumes" -}}
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 64Mi }
{{- range .Values.files }}
- name: {{ .name }}
  {{- if .secret }}
  secret: { secretName: {{ .secret }}, defaultMode: 0440 }
  {{- else }}
  configMap: { name: {{ .configMap }}, defaultMode: 0440 }
  {{- end }}
{{- end }}
{{- end -}}

{{- define "qjs.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- range .Values.files }}
- { name: {{ .name }}, mountPath: {{ .mountPath }}, readOnly: true }
{{- end }}
{{- end -}}
