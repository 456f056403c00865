# What train/examples/run and tests/run share: installing packages, the cache folder, configuring and building.
# Sourced by both; nothing here touches anything but system packages and the one cache folder.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/runnel
export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros  # or it does not keep what a precompiled header went into

say() { printf '\n== %s\n' "$*"; }
stop() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Names in tests/packages.txt, up to the line "# --- tests" or all of them.
package_names() {
  if [ "$1" = build ]; then sed '/^# --- tests/,$d' "$root/tests/packages.txt"; else cat "$root/tests/packages.txt"; fi |
    grep -v '^#'
}

install_packages() {
  local missing=() name
  for name in $(package_names "$1"); do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || stop "Missing: ${missing[*]}. This script installs with apt-get, which is not here; install them by hand."
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || stop "Missing: ${missing[*]}. Run as root, or install sudo, so that they can be installed."
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
    stop "apt-get update failed: is there a network? Its messages are above."
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    stop "apt-get could not install ${missing[*]}; its messages are above."
}

# configure FOLDER [meson options]: once; later calls are free.
configure() {
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] || meson setup "$folder" "$root" "$@" >"$cache/meson.log" 2>&1 ||
    { cat "$cache/meson.log" >&2; stop "meson setup failed; its output is above."; }
}

mkdir -p "$cache" || stop "The cache folder $cache cannot be made; set XDG_CACHE_HOME to a folder that can."
