{{/* What no schema can say. Every fault stops the installation before anything is changed. */}}
{{- define "gateway.checks" -}}
{{- $faults := list -}}
{{- with .Values -}}
{{- with .image.repository -}}
{{- if regexMatch ":[^/]*$" . -}}
{{- $faults = append $faults (printf "image.repository: %q has a tag or a digest; they belong into image.tag and image.digest" .) -}}
{{- else if not (regexMatch "^[a-zA-Z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$" .) -}}
{{- $faults = append $faults (printf "image.repository: %q is not the name of a repository; write registry.example.com/tenancy-gateway, without https:// and in lower case" .) -}}
{{- end -}}
{{- else -}}
{{- $faults = append $faults "image.repository: say where the cluster pulls the image from, such as registry.example.com/tenancy-gateway" -}}
{{- end -}}
{{- if not (or .database.existingSecret .database.url) -}}
{{- $faults = append $faults "database: set database.existingSecret to a Secret that holds the PostgreSQL URL" -}}
{{- end -}}
{{- if not (or .config.upstream_url .config.routes) -}}
{{- $faults = append $faults "config: set config.upstream_url, or config.routes" -}}
{{- end -}}
{{- with .config.upstream_url -}}
{{- if not (regexMatch "^https?://[^/?#]+" .) -}}
{{- $faults = append $faults (printf "config.upstream_url: %q is not a URL; write http://shop:8080" .) -}}
{{- end -}}
{{- end -}}
{{- if gt (len (toYaml .config)) 200000 -}}
{{- $faults = append $faults "config: longer than 200,000 characters; Kubernetes keeps it in an annotation of the pods, and all annotations of an object have 256 KiB" -}}
{{- end -}}
{{- $prefixes := list -}}
{{- range .config.routes -}}
{{- $prefix := .prefix | default "" -}}
{{- if not (hasPrefix "/" $prefix) -}}
{{- $faults = append $faults (printf "config.routes: the prefix %q does not begin with /" $prefix) -}}
{{- else if has $prefix $prefixes -}}
{{- $faults = append $faults (printf "config.routes: two routes have the prefix %q" $prefix) -}}
{{- end -}}
{{- $prefixes = append $prefixes $prefix -}}
{{- end -}}
{{- range .config.trusted_proxies -}}
{{- if not (or (regexMatch "^[0-9]{1,3}([.][0-9]{1,3}){3}(/([0-9]|[12][0-9]|3[0-2]))?$" .) (regexMatch "^[0-9a-fA-F:]*:[0-9a-fA-F:.]*(/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?$" .)) -}}
{{- $faults = append $faults (printf "config.trusted_proxies: %q is no address and no range such as 10.0.0.0/8" .) -}}
{{- end -}}
{{- end -}}
{{- $portal := .config.portal | default dict -}}
{{- $files := dict -}}
{{- range $name, $file := dig "listen" "tls" dict .config -}}
{{- $_ := set $files (printf "config.listen.tls.%s" $name) $file -}}
{{- end -}}
{{- with $portal.logo_file -}}
{{- $_ := set $files "config.portal.logo_file" . -}}
{{- end -}}
{{- $mounts := .extraVolumeMounts -}}
{{- range $name, $file := $files -}}
{{- $mounted := false -}}
{{- range $mounts -}}
{{- if or (eq .mountPath $file) (hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $file) -}}
{{- $mounted = true -}}
{{- end -}}
{{- end -}}
{{- if not $mounted -}}
{{- $faults = append $faults (printf "%s: no extraVolumeMounts has %s" $name $file) -}}
{{- end -}}
{{- end -}}
{{- if and .portal.enabled (not (regexMatch "^https?://[^/?#@]+" ($portal.url | default ""))) -}}
{{- $faults = append $faults "config.portal.url: say where browsers find the portal, such as https://portal.example.com/" -}}
{{- end -}}
{{- $portalHost := include "gateway.portalHost" $ -}}
{{- if and $portalHost (or .ingress.enabled .httpRoute.enabled) -}}
{{- if or (contains ":" $portalHost) (regexMatch "^[0-9.]+$" $portalHost) -}}
{{- $faults = append $faults (printf "config.portal.url: %s is an IP address, which neither an Ingress nor an HTTPRoute takes as a host; give the portal a name" $portalHost) -}}
{{- end -}}
{{- range $name, $hosts := dict "ingress.hosts" (ternary .ingress.hosts list .ingress.enabled) "httpRoute.hostnames" (ternary .httpRoute.hostnames list .httpRoute.enabled) -}}
{{- if has $portalHost (splitList "," (join "," $hosts | lower)) -}}
{{- $faults = append $faults (printf "config.portal.url: %s is in %s, too; give the portal a host of its own" $portalHost $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if gt (int (.config.drain_idle_ms | default 0)) (int (.config.drain_ms | default 25000)) -}}
{{- $faults = append $faults "config.drain_idle_ms: longer than config.drain_ms" -}}
{{- end -}}
{{- if and .admin.roles (not .admin.tokensSecret) -}}
{{- $faults = append $faults "admin.roles: set admin.tokensSecret to the Secret with the tokens of these operators" -}}
{{- end -}}
{{- with .admin.token -}}
{{- if lt (len .) 16 -}}
{{- $faults = append $faults "admin.token: shorter than 16 characters" -}}
{{- end -}}
{{- end -}}
{{- $replicas := ternary .autoscaling.minReplicas .replicas .autoscaling.enabled -}}
{{- if and .podDisruptionBudget.enabled .podDisruptionBudget.minAvailable (not (kindIs "invalid" $replicas)) (not (hasSuffix "%" (.podDisruptionBudget.minAvailable | toString))) -}}
{{- if ge (int .podDisruptionBudget.minAvailable) (int $replicas) -}}
{{- $faults = append $faults (printf "podDisruptionBudget.minAvailable: %d of %d replicas must stay, so no node could be drained" (int .podDisruptionBudget.minAvailable) (int $replicas)) -}}
{{- end -}}
{{- end -}}
{{- if and .migrations.job.enabled (not (or .migrations.job.existingSecret .database.existingSecret)) -}}
{{- $faults = append $faults "migrations.job: it runs before the chart's own Secret exists; set database.existingSecret or migrations.job.existingSecret" -}}
{{- end -}}
{{- if and .ingress.enabled (not .ingress.hosts) -}}
{{- $faults = append $faults "ingress.hosts: name at least one" -}}
{{- end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) -}}
{{- $faults = append $faults "httpRoute.parentRefs: name the Gateway to attach to" -}}
{{- end -}}
{{- if and .autoscaling.enabled (gt (int .autoscaling.minReplicas) (int .autoscaling.maxReplicas)) -}}
{{- $faults = append $faults "autoscaling: minReplicas is above maxReplicas" -}}
{{- end -}}
{{- $workers := .config.workers | default 1 -}}
{{- $memory := dig "limits" "memory" "" .resources | toString -}}
{{- if eq ($workers | toString) "auto" -}}
{{- $faults = append $faults "config.workers: auto counts the cores of the node, which says nothing of the pod; say how many, or take more replicas" -}}
{{- else if and (gt (int $workers) 1) $memory (lt (int64 (include "gateway.bytes" $memory)) (mul (int $workers) 536870912)) -}}
{{- $faults = append $faults (printf "resources.limits.memory: %s is too little for config.workers: %d; each worker needs 512Mi, as a pod by itself does, or the kernel kills workers where Kubernetes does not see it" $memory (int $workers)) -}}
{{- end -}}
{{- if and $memory (le (int $workers) 1) (lt (int64 (include "gateway.bytes" $memory)) 268435456) -}}
{{- $faults = append $faults (printf "resources.limits.memory: %s is too little; a gateway needs 256Mi" $memory) -}}
{{- end -}}
{{- range .extraEnv -}}
{{- if has .name (list "CONFIG" "DATABASE_URL" "PORT" "INTERNAL_PORT" "PORTAL_PORT") -}}
{{- $faults = append $faults (printf "extraEnv: %s is set by the chart; use config, database, service.port or portal.enabled" .name) -}}
{{- end -}}
{{- end -}}
{{- range $annotation, $_ := .podAnnotations -}}
{{- if has $annotation (list "tenancy-gateway/config" "checksum/secret") -}}
{{- $faults = append $faults (printf "podAnnotations: %s is set by the chart" $annotation) -}}
{{- end -}}
{{- end -}}
{{- range $value := list "commonLabels" "podLabels" -}}
{{- range $label, $_ := index $.Values $value -}}
{{- if regexMatch "^(app.kubernetes.io/(name|instance|component|version|managed-by)|helm.sh/chart)$" $label -}}
{{- $faults = append $faults (printf "%s: %s is set by the chart" $value $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if lt (int (include "gateway.gracePeriodSeconds" .)) (int (add .Values.preStopSeconds (include "gateway.drainSeconds" .))) -}}
{{- $faults = append $faults "terminationGracePeriodSeconds: shorter than preStopSeconds and config.drain_ms together; requests would be cut off" -}}
{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n  - %s" (join "\n  - " $faults)) -}}
{{- end -}}
{{- end }}

{{/* A quantity of memory, such as 512Mi, in bytes. */}}
{{- define "gateway.bytes" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := regexFind "[a-zA-Z]*$" . -}}
{{- mulf (trimSuffix $unit . | float64) (get $units $unit | default 1 | float64) | int64 -}}
{{- end }}
