# Functions shared by ./test, ./demo and tools/: timed steps, packages, builds.
# Source this file; it changes the working directory to the root of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=$(nproc)

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi

packages_build=(g++ cmake ninja-build ccache pkg-config python3 python3-dev python3-venv zlib1g-dev libisal-dev
  libzstd-dev libarchive-dev libjpeg-dev libspng-dev libgif-dev libwebp-dev libhwy-dev libfmt-dev nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev
  libbenchmark-dev)
packages_demo=(libtorch-dev libopenblas0-pthread dataset-fashion-mnist)
packages_all=(git clang-19 clang-tidy-19 clang-format-19 lld-19 libclang-rt-19-dev llvm-19)

# step NAME COMMAND...: runs the command and prints how long it took. A failure ends the script.
step() {
  local name=$1 begin=$SECONDS status=0
  shift
  echo "${bold}== $name${plain}"
  # Not `"$@" || …`: that would disable errexit inside a function. A subshell
  # keeps it enabled.
  set +e
  (set -e; "$@")
  status=$?
  set -e
  if ((status != 0)); then
    echo "${bold}== $name failed after $((SECONDS - begin)) s${plain}" >&2
    exit "$status"
  fi
  echo "${bold}== $name: $((SECONDS - begin)) s${plain}"
}

# missing_packages PACKAGE...: prints the packages that are not installed.
missing_packages() {
  local name
  for name in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done
}

may_install() { ((EUID == 0)) || sudo -n true 2>/dev/null; }

apt_get() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# install_packages PACKAGE...: installs missing packages, or prints the command that installs them.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    echo "all packages are installed"
    return
  fi
  if ! may_install; then
    echo "some packages are missing, and this user cannot install packages; run this command, then try again:" >&2
    echo "  sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  echo "installing ${missing[*]}"
  local log
  log=$({ apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"; } 2>&1) ||
    { echo "$log" >&2; return 1; }
}

# build PRESET [TARGET...]: configures the preset and builds it, or only the targets.
build() {
  local preset=$1 target arguments=()
  shift
  for target in "$@"; do arguments+=(--target "$target"); done
  local log
  log=$(cmake --preset "$preset" 2>&1) || { echo "$log" >&2; return 1; }
  cmake --build "build/$preset" --parallel "$jobs" "${arguments[@]}"
}

# tree_files PATTERN...: prints the files of the tree that match, committed or not, separated by NUL.
tree_files() {
  git ls-files -z --cached --others --exclude-standard -- "$@" |
    while IFS= read -r -d '' file; do if [[ -f $file ]]; then printf '%s\0' "$file"; fi; done
}

# run_tests PRESET: runs the tests of the preset.
run_tests() { ctest --preset "$1" --parallel "$jobs"; }

# run_stress PRESET: makes random calls from several threads for 20 s, with a new seed each time, which it prints.
run_stress() { "build/$1/bin/stress/loaders"; }

libtorch_env=build/libtorch-env
python_env=build/python-env

# Builds the Python package and installs it into an environment of its own.
install_python() {
  [[ -x $python_env/bin/pip ]] || python3 -m venv "$python_env"
  local pip=("$python_env/bin/pip" --disable-pip-version-check install -q)
  "${pip[@]}" 'scikit-build-core>=0.10' 'nanobind>=2.4' ninja numpy
  rm -rf build/wheel
  # With the same flags as the release build, whose objects the compiler cache has.
  "$python_env/bin/pip" --disable-pip-version-check wheel -q --no-build-isolation --no-deps \
    --config-settings=cmake.define.STOKER_STRICT=ON -w build/wheel .
  "${pip[@]}" --no-deps --force-reinstall "$(built_wheel)"
}
built_wheel() { echo build/wheel/stoker-*.whl; }

# run_python_tests [PYTHON]: runs the Python tests, by default with the package's own environment.
run_python_tests() {
  local file
  for file in tests/python/*_test.py; do "${1:-$python_env/bin/python}" -B "$file"; done
}

# Frameworks are large and rarely change. Their environment is outside the clone, so that clones share it.
frameworks_env=${XDG_CACHE_HOME:-$HOME/.cache}/stoker/frameworks

# Installs the package next to TensorFlow, Keras and Pillow, and mypy to check its stubs.
install_frameworks() {
  [[ -x $frameworks_env/bin/pip ]] || python3 -m venv "$frameworks_env"
  local pip=("$frameworks_env/bin/pip" --disable-pip-version-check install -q)
  "${pip[@]}" tensorflow-cpu pillow mypy
  "${pip[@]}" --no-deps --force-reinstall "$(built_wheel)"
}
