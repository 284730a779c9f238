#!/usr/bin/env bash
# Installs the release build into a temporary folder, and builds and runs the two
# programs of tests/consumer: one uses find_package, the other add_subdirectory.
set -euo pipefail
source "$(dirname "$0")/setup.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build release
cmake --install build/release --prefix "$folder/installed" >"$folder/install.log"

consume() {
  local how=$1
  shift
  echo "consumer: $how"
  cmake -G Ninja -S "tests/consumer/$how" -B "$folder/$how" -DCMAKE_BUILD_TYPE=Release "$@" >"$folder/$how.log" ||
    { cat "$folder/$how.log" >&2; return 1; }
  cmake --build "$folder/$how" --parallel "$jobs"
  "$folder/$how/consumer"
}
# With the warnings of the release build, so that the compiler cache has the objects.
as_in_release=(-DSTOKER_STRICT=ON)
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  as_in_release+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
consume find_package -DCMAKE_PREFIX_PATH="$folder/installed"
consume add_subdirectory "${as_in_release[@]}" -DSTOKER_TREE="$PWD"
