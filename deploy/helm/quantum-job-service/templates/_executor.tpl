{{/* The rights of an executor, by its level of isolation: docs/operations/deployment/isolation.md. */}}
{{- define "qjs.executorPod" -}}
{{- if eq .isolation "landlock" -}}
{{ include "qjs.restrictedPod" (dict "user" 10001) }}
{{- else -}}
# The executor starts as root. It serves, and runs code, as other users.
runAsUser: 0
runAsGroup: 0
seccompProfile: { type: {{ ternary "Unconfined" "RuntimeDefault" (eq .isolation "namespaces") }} }
{{- if eq .isolation "namespaces" }}
appArmorProfile: { type: Unconfined }
{{- end }}
{{- end -}}
{{- end -}}

{{- define "qjs.executorContainer" -}}
{{- if eq .isolation "landlock" -}}
{{ include "qjs.restricted" . }}
{{- else if .privileged -}}
# Control groups are writable for a privileged container alone.
privileged: true
readOnlyRootFilesystem: true
{{- else -}}
allowPrivilegeEscalation: {{ eq .isolation "namespaces" }}
# To become another user and take every right from it, to hand the run's folder to it, to end the run and to remove what
# it left{{ if eq .isolation "namespaces" }}; and to create namespaces and mount in them{{ end }}.
capabilities:
  drop: [ALL]
  add: [SETUID, SETGID, SETPCAP, CHOWN, KILL, DAC_OVERRIDE{{ if eq .isolation "namespaces" }}, SYS_ADMIN{{ end }}]
readOnlyRootFilesystem: true
{{- end -}}
{{- end -}}

{{/* The memory of docs/operations/executor.md: each slot and the playground's, parked runs, the executor itself and /tmp. */}}
{{- define "qjs.executorResources" -}}
{{- $memory := printf "%dGi" (add (mul (add .slots 1) .memoryGib) 4) -}}
{{- $planned := dict "requests" (dict "cpu" (toString .slots) "memory" $memory) "limits" (dict "memory" $memory) -}}
{{- toYaml (mergeOverwrite $planned (.pool.resources | default dict)) -}}
{{- end -}}

{{/* The command that asks the executor for its state, as a JSON list. `ready`: whether the state counts, or any response. */}}
{{- define "qjs.executorProbe" -}}
{{- $lines := list
  "import json, os, sys, urllib.request as http"
  (printf "url = 'http://localhost:%s/health'" (include "qjs.executorPort" .root))
  "request = http.Request(url, headers={'Authorization': 'Bearer ' + os.environ['EXECUTOR_TOKEN']})"
  "state = json.load(http.urlopen(request, timeout=4))['status']"
-}}
{{- if .ready -}}
{{- $lines = append $lines "sys.exit(state not in ('ok', 'degraded'))" -}}
{{- end -}}
{{- list "/opt/executor/bin/python" "-I" "-c" (join "\n" $lines) | toJson -}}
{{- end -}}
