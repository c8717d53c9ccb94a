{{/* Names and labels. A name leaves room for `-executor-<pool>` within the 63 characters of a label. */}}
{{- define "qjs.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 32 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 32 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Never changes for a Deployment, and has no version: a label that changes would restart all pods. */}}
{{- define "qjs.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "qjs.labels" -}}
{{ include "qjs.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "qjs.tag" -}}
{{- .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}

{{/* The Deployment of workers. With versions of workflow code each version has its own, so that an upgrade stops none. */}}
{{- define "qjs.workerName" -}}
{{- if .root.Values.temporal.deployment -}}
{{ include "qjs.fullname" .root }}-worker-{{ .tag | lower | replace "." "-" | replace "_" "-" | trunc 20 | trimSuffix "-" }}
{{- else -}}
{{ include "qjs.fullname" .root }}-worker
{{- end -}}
{{- end -}}

{{- define "qjs.executorName" -}}
{{ include "qjs.fullname" .root }}-executor-{{ .pool.name }}
{{- end -}}

{{- define "qjs.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "qjs.fullname" .) -}}
{{- end -}}

{{- define "qjs.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Ports of the processes. */}}
{{- define "qjs.apiPort" -}}3000{{- end -}}
{{- define "qjs.workerHealthPort" -}}3001{{- end -}}
{{- define "qjs.metricsPort" -}}9464{{- end -}}
{{- define "qjs.executorPort" -}}8800{{- end -}}

{{/* The context of a container that fits the restricted profile of the Pod Security Standards. */}}
{{- define "qjs.restricted" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
readOnlyRootFilesystem: true
{{- end -}}

{{/* The context of a pod that does. `user` is its user and group: the images name theirs, and `runAsNonRoot` requires a number. */}}
{{- define "qjs.restrictedPod" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* Nodes: where a pod can run, and evenly where it does. */}}
{{- define "qjs.placement" -}}
{{- with .of.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- .selector | nindent 8 }}
{{- end -}}

{{- define "qjs.availability" -}}
# An eviction can always stop one pod, also the only one, and one that is not ready.
maxUnavailable: 1
unhealthyPodEvictionPolicy: AlwaysAllow
{{- end -}}
