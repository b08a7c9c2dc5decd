{{/*
What a pod with a gateway beside its service is made of. Every template takes
  dict "gateway" (the library's values) "name" (of the ConfigMap that holds "…config")
*/}}

{{/* The gateway's file: `config`, and the operators with their roles and the files of their tokens. */}}
{{- define "tenancy-gateway-sidecar.file" -}}
{{- $config := deepCopy .gateway.config -}}
{{- with .gateway.admin.roles -}}
{{- $operators := dict -}}
{{- range $name, $role := . -}}
{{- $_ := set $operators $name (dict "token_file" (printf "/etc/tenancy-gateway/operators/%s" $name) "role" $role) -}}
{{- end -}}
{{- $_ := set $config "internal" (merge (dict "admin_tokens" $operators) ($config.internal | default dict)) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{/* The data of that ConfigMap. */}}
{{- define "tenancy-gateway-sidecar.config" -}}
gateway.yaml: |
  {{- include "tenancy-gateway-sidecar.file" . | nindent 2 }}
{{- end }}

{{/* For the pod's annotations: a file that changes under a running gateway does nothing, so a change has to make new pods. */}}
{{- define "tenancy-gateway-sidecar.podAnnotations" -}}
checksum/gateway-config: {{ include "tenancy-gateway-sidecar.file" . | sha256sum }}
{{- end }}

{{/* For the pod's volumes. */}}
{{- define "tenancy-gateway-sidecar.volumes" -}}
- name: gateway
  configMap: { name: {{ .name }} }
# What was counted and is not in the database yet; it survives a container that is killed.
- name: gateway-usage
  emptyDir: {}
{{- with .gateway.admin.tokensSecret }}
- name: gateway-operator-tokens
  secret: { secretName: {{ . }} }
{{- end }}
{{- end }}

{{/* Seconds from SIGTERM to the gateway's exit; 25000 is its default. */}}
{{- define "tenancy-gateway-sidecar.drainSeconds" -}}
{{- $ms := .gateway.config.drain_ms -}}
{{- divf (ternary 25000 $ms (kindIs "invalid" $ms)) 1000 | ceil | int -}}
{{- end }}

{{/* For the service's container, beside its own preStop if it has one: it outlives the gateway, whose last requests it has to serve. */}}
{{- define "tenancy-gateway-sidecar.serviceLifecycle" -}}
preStop: { sleep: { seconds: {{ add .gateway.preStopSeconds (include "tenancy-gateway-sidecar.drainSeconds" .) }} } }
{{- end }}

{{/* For the pod: the longest preStop, and as long as the service itself takes to stop (10 s). */}}
{{- define "tenancy-gateway-sidecar.terminationGracePeriodSeconds" -}}
{{- add .gateway.preStopSeconds (include "tenancy-gateway-sidecar.drainSeconds" .) 10 -}}
{{- end }}

{{- define "tenancy-gateway-sidecar.secretEnv" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .from.existingSecret }}, key: {{ .from.key }} } }
{{- end }}

{{/* For the pod's containers. Its ports are named http and internal; the Service leads to http. */}}
{{- define "tenancy-gateway-sidecar.container" -}}
{{- with .gateway -}}
{{- if not (or .config.upstream_url .config.routes) -}}
{{- fail "config of the gateway: set upstream_url, or routes, to the port that the service has on 127.0.0.1" -}}
{{- end -}}
{{- if and .admin.roles (not .admin.tokensSecret) -}}
{{- fail "admin.roles of the gateway: set admin.tokensSecret to the Secret with the tokens of these operators" -}}
{{- end -}}
- name: gateway
  image: {{ required "image.repository of the gateway: say where the cluster pulls the image from" .image.repository }}:{{ .image.tag }}
  imagePullPolicy: {{ .image.pullPolicy }}
  ports:
    - { name: http, containerPort: 8080 }
    - { name: internal, containerPort: 9090 }
  env:
    - { name: CONFIG, value: /etc/tenancy-gateway/gateway.yaml }
    - { name: USAGE_JOURNAL_DIR, value: /var/lib/tenancy-gateway/usage }
    {{- $_ := required "database.existingSecret of the gateway: name the Secret that holds the PostgreSQL URL" .database.existingSecret }}
    {{- range $name, $from := dict "DATABASE_URL" .database "REDIS_URL" .redis "ADMIN_TOKEN" .admin }}
    {{- if $from.existingSecret }}
    {{- include "tenancy-gateway-sidecar.secretEnv" (dict "name" $name "from" $from) | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- if and .admin.tokensSecret (not .admin.roles) }}
    - { name: ADMIN_TOKENS_DIR, value: /etc/tenancy-gateway/operators }
    {{- end }}
    {{- with .extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  startupProbe:
    httpGet: { path: /livez, port: internal }
    periodSeconds: 1
    failureThreshold: 60
  livenessProbe:
    httpGet: { path: /livez, port: internal }
    timeoutSeconds: 5
  readinessProbe:
    httpGet: { path: /readyz/listening, port: internal }
    periodSeconds: 3
    failureThreshold: 2
  lifecycle:
    preStop: { sleep: { seconds: {{ .preStopSeconds }} } }
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: { drop: [ALL] }
  resources:
    {{- toYaml .resources | nindent 4 }}
  volumeMounts:
    - { name: gateway, mountPath: /etc/tenancy-gateway/gateway.yaml, subPath: gateway.yaml, readOnly: true }
    - { name: gateway-usage, mountPath: /var/lib/tenancy-gateway/usage }
    {{- if .admin.tokensSecret }}
    - { name: gateway-operator-tokens, mountPath: /etc/tenancy-gateway/operators, readOnly: true }
    {{- end }}
    {{- with .extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
{{- end }}
