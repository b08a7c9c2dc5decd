{{/* What every container of the chart is held to. Nothing is written: the root file system stays read-only. */}}
{{- define "gateway.containerSecurity" -}}
{{- $held := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (mergeOverwrite $held (deepCopy .Values.securityContext)) -}}
{{- end }}

{{/* The gateway's file: `config`, and the operators with their roles and the files of their tokens. */}}
{{- define "gateway.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- with .Values.admin.roles -}}
{{- $operators := dict -}}
{{- range $name, $role := . -}}
{{- $_ := set $operators $name (dict "token_file" (printf "/etc/tenancy-gateway/operators/%s" $name) "role" $role) -}}
{{- end -}}
{{- $_ := set $config "internal" (dict "admin_tokens" $operators) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{/* Where a pod runs and how it resolves names: the serving pods and the Job alike. */}}
{{- define "gateway.placement" -}}
{{- range $field := list "priorityClassName" "runtimeClassName" "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsPolicy" "dnsConfig" -}}
{{- with index $.Values $field }}
{{ toYaml (dict $field .) }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The image names a numeric user, so none is named here: OpenShift assigns its own. */}}
{{- define "gateway.podSecurity" -}}
{{- $held := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- toYaml (mergeOverwrite $held (deepCopy .Values.podSecurityContext)) -}}
{{- end }}

{{/* Secrets that values hold in plain text, as YAML; empty where all of them are in Secrets of the operator's own. */}}
{{- define "gateway.ownSecrets" -}}
{{- with .Values -}}
{{- $own := dict -}}
{{- if not .database.existingSecret -}}{{- $own = set $own "DATABASE_URL" .database.url -}}{{- end -}}
{{- if and .redis.url (not .redis.existingSecret) -}}{{- $own = set $own "REDIS_URL" .redis.url -}}{{- end -}}
{{- if and .admin.token (not .admin.existingSecret) -}}{{- $own = set $own "ADMIN_TOKEN" .admin.token -}}{{- end -}}
{{- with $own -}}{{- toYaml . -}}{{- end -}}
{{- end -}}
{{- end }}

{{/* One variable from a Secret: the operator's own, or the chart's. */}}
{{- define "gateway.secretEnv" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .from.existingSecret | default .chartSecret }}
      key: {{ ternary .from.key .name (not (empty .from.existingSecret)) }}
{{- end }}

{{/* Where the URL past a pooler is: like `.Values.database`, empty where there is no pooler. */}}
{{- define "gateway.directDatabase" -}}
{{- with .Values.database -}}
{{- if and .existingSecret .directKey -}}
{{- toYaml (dict "existingSecret" .existingSecret "key" .directKey) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "gateway.spread" -}}
{{- if .Values.topologySpreadConstraints -}}
{{- toYaml .Values.topologySpreadConstraints -}}
{{- else -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "gateway.selectorLabels" $ | nindent 6 }}
  # Counts the pods of this roll-out alone, or the old ones would push the new ones together.
  matchLabelKeys: [pod-template-hash]
{{- end -}}
{{- end -}}
{{- end }}
