#!/usr/bin/env bash
# Runs the tests of this folder, or one file of it, where there is neither a container engine nor a registry:
# test/e2e/containers/own-engine.sh [FILE], as root, on Debian.
#
# Docker's daemon runs for as long as they take, in namespaces of its own: no service, no rule of a firewall, and containers reach
# no network but each other's. Images stay in .cache/containers, so that the next run is a quick one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

for tool in dockerd docker tini debootstrap; do
  if ! command -v "$tool" >/dev/null; then
    echo "containers: SKIPPED, there is no $tool here (apt-get install docker.io tini debootstrap)."
    exit 0
  fi
done
[ "$(id -u)" = 0 ] || { echo 'containers: SKIPPED, this takes root.'; exit 0; }

home="$PWD/.cache/containers"
scratch="$(mktemp -d)"
mkdir -p "$home/engine"
export DOCKER_HOST="unix://$scratch/docker.sock"
# Only the machine's own network leads to the npm registry and to Debian's packages.
export TEST_BUILD_NETWORK=host

# Debian 12 has no Compose 2; the program of Debian 13 runs on it.
get_compose() {
  docker compose version >/dev/null 2>&1 && return 0
  export DOCKER_CONFIG="$home/config"
  docker compose version >/dev/null 2>&1 && return 0
  local sources="deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main"
  (
    mkdir -p "$scratch/apt/lists/partial" && cd "$scratch/apt"
    echo "$sources" >sources.list
    own=(-o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State="$PWD" -o Dir::Cache="$PWD"
      -o Dir::State::Status=/var/lib/dpkg/status -o APT::Sandbox::User=root)
    apt-get -qq "${own[@]}" update
    apt-get -qq "${own[@]}" download docker-compose
    dpkg-deb -x docker-compose_*.deb package
    mkdir -p "$DOCKER_CONFIG/cli-plugins"
    cp "$(find package -type f -name docker-compose -path '*cli-plugins*')" "$DOCKER_CONFIG/cli-plugins/"
  )
}
get_compose

unshare --mount --pid --fork --kill-child --mount-proc tini -- dockerd --host "$DOCKER_HOST" --data-root "$home/engine" \
  --exec-root "$scratch/run" --pidfile "$scratch/pid" --bridge none --iptables=false --ip-forward=false --ip-masq=false \
  --cgroup-parent /tenancy-gateway-test >"$home/engine.log" 2>&1 &
namespaces=$!
end() {
  # To the first process in there, which hands it on; when that has ended, all others of its namespace have.
  kill $(cat "/proc/$namespaces/task/$namespaces/children") 2>/dev/null || true
  wait "$namespaces" 2>/dev/null || true
  rm -rf "$scratch"
  find /sys/fs/cgroup -depth -type d -path '*/tenancy-gateway-test*' -exec rmdir {} + 2>/dev/null || true
}
trap end EXIT

until docker info >/dev/null 2>&1; do
  kill -0 "$namespaces" || { tail -n 20 "$home/engine.log"; exit 1; }
  sleep 0.2
done
test/e2e/containers/images.sh
npm test -- "${@:-test/e2e/containers}"
