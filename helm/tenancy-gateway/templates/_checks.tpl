{{/* What no schema can say. Every fault stops the installation before anything is changed. */}}
{{- define "gateway.checks" -}}
{{- $faults := list -}}
{{- with .Values -}}
{{- if not (or .database.existingSecret .database.url) -}}
{{- $faults = append $faults "database: set database.existingSecret to a Secret that holds the PostgreSQL URL" -}}
{{- end -}}
{{- if not (or .config.upstream_url .config.routes) -}}
{{- $faults = append $faults "config: set config.upstream_url, or config.routes" -}}
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
{{- end -}}
{{- if lt (int (include "gateway.gracePeriodSeconds" .)) (int (add .Values.preStopSeconds (include "gateway.drainSeconds" .))) -}}
{{- $faults = append $faults "terminationGracePeriodSeconds: shorter than preStopSeconds and config.drain_ms together; requests would be cut off" -}}
{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n  - %s" (join "\n  - " $faults)) -}}
{{- end -}}
{{- end }}
