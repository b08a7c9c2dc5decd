{{- define "gateway.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* Name of every object of the release. At most 52 characters: a Job's pods append more. */}}
{{- define "gateway.fullname" -}}
{{- $name := include "gateway.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* What belongs to the release, whatever it does. */}}
{{- define "gateway.releaseLabels" -}}
app.kubernetes.io/name: {{ include "gateway.name" . }}
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
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of an object that has labels of its own: those win. */}}
{{- define "gateway.labelsWith" -}}
{{- mergeOverwrite (include "gateway.labels" .root | fromYaml) .own | toYaml -}}
{{- end }}

{{/* Labels of a pod that no selector needs: those of every object, and its own. */}}
{{- define "gateway.podLabels" -}}
{{- with mergeOverwrite (deepCopy .common) .own -}}
{{- toYaml . -}}
{{- end -}}
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

{{/*
How many pods the manifest asks for; empty where another program is to say so. With autoscaling it repeats the live number:
a manifest without one takes back what the release said before, and Kubernetes' default is a single pod.
*/}}
{{- define "gateway.replicas" -}}
{{- if not (kindIs "invalid" .Values.replicas) -}}
{{- if .Values.autoscaling.enabled -}}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "gateway.fullname" .) -}}
{{- max (int .Values.autoscaling.minReplicas) (int (dig "spec" "replicas" 0 $live)) -}}
{{- else -}}
{{- .Values.replicas -}}
{{- end -}}
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

{{/* Host of the portal in lower case, as Kubernetes wants it; empty if there is none, or if its address has a path, which only a proxy of the operator's removes. */}}
{{- define "gateway.portalHost" -}}
{{- $url := urlParse (dig "portal" "url" "" .Values.config) -}}
{{- if and .Values.portal.enabled (has $url.path (list "" "/")) -}}
{{- lower $url.hostname -}}
{{- end -}}
{{- end }}
