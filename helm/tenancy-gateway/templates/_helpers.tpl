{{/* Name of every object of the release. At most 52 characters: a Job's pods append more. */}}
{{- define "gateway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* What belongs to the release, whatever it does. */}}
{{- define "gateway.releaseLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The serving pods and nothing else: Services must not send traffic to a migration. */}}
{{- define "gateway.selectorLabels" -}}
{{ include "gateway.releaseLabels" . }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.releaseLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gateway.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "gateway.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{/* Seconds from SIGTERM to exit; 25000 is the gateway's default. */}}
{{- define "gateway.drainSeconds" -}}
{{- $ms := .Values.config.drain_ms -}}
{{- divf (ternary 25000 $ms (kindIs "invalid" $ms)) 1000 | ceil | int -}}
{{- end }}

{{- define "gateway.gracePeriodSeconds" -}}
{{- if kindIs "invalid" .Values.terminationGracePeriodSeconds -}}
{{- add (int .Values.preStopSeconds) (include "gateway.drainSeconds" .) 5 -}}
{{- else -}}
{{- int .Values.terminationGracePeriodSeconds -}}
{{- end -}}
{{- end }}
