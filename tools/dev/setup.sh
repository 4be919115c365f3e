# Installs the packages and tools that ./dev needs: Debian packages, a recent CMake and a Python environment. Sourced by ./dev.
# Everything here looks first and installs only what is missing, so that it is safe and quick to repeat.

LIBRARY_PACKAGES=(g++ cmake ninja-build ccache pkg-config libfmt-dev libzstd-dev libxxhash-dev libdeflate-dev libsimdjson-dev
  libopenblas-pthread-dev libcli11-dev libprotozero-dev zlib1g-dev)
BUILD_PACKAGES=("${LIBRARY_PACKAGES[@]}" libgtest-dev libgmock-dev git python3 python3-venv python3-dev)
CLANG_PACKAGES=(clang libclang-rt-14-dev)
LINT_PACKAGES=(shellcheck)
BENCH_PACKAGES=(valgrind)
BROWSER_PACKAGES=(chromium chromium-driver firefox-esr fonts-dejavu-core)
MINIMUM_CMAKE=3.25

# The command that a package is wanted for, where another installation of it (pip, a newer release) does as well.
command_of() {
  case $1 in
    g++ | clang | cmake | ccache | git | python3 | shellcheck | valgrind) echo "$1" ;;
    ninja-build) echo ninja ;;
    pkg-config) echo pkg-config ;;
  esac
}

is_installed() {
  local command
  command=$(command_of "$1")
  if [[ -n $command ]] && command -v "$command" >/dev/null; then return 0; fi
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# need_packages NAME...: installs those that are missing, with sudo unless root.
need_packages() {
  local package missing=() as_root=()
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null || fail "this machine has no apt-get; please install what Debian calls: ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "please run as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing packages: ${missing[*]}"
  quietly build/packages.log "${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update
  quietly build/packages.log "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}"
}

is_recent_cmake() {
  local version
  version=$("$1" --version 2>/dev/null | awk 'NR == 1 {print $3}')
  [[ -n $version && $(printf '%s\n' "$MINIMUM_CMAKE" "$version" | sort -V | head -1) == "$MINIMUM_CMAKE" ]]
}

# Sets CMAKE and CTEST: those of the PATH or the system if recent enough, else from PyPI.
find_cmake() {
  local candidate
  for candidate in cmake /usr/bin/cmake .venv/bin/cmake; do
    if is_recent_cmake "$candidate"; then
      CMAKE=$candidate
      CTEST=${candidate%cmake}ctest
      return 0
    fi
  done
  need_python
  say "Installing a CMake newer than $MINIMUM_CMAKE into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "cmake>=$MINIMUM_CMAKE"
  CMAKE=.venv/bin/cmake
  CTEST=.venv/bin/ctest
}

# need_python [NAME]: a .venv that holds tools/requirements[-NAME].txt; a list is installed again only when it has changed.
need_python() {
  local name=requirements${1:+-$1} stamp
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "Making a Python environment in .venv"
    rm -rf .venv
    python3 -m venv .venv
  fi
  stamp=.venv/.installed-$name
  cmp -s "tools/$name.txt" "$stamp" && return 0
  say "Installing Python packages of tools/$name.txt into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "tools/$name.txt" || return
  cp "tools/$name.txt" "$stamp"
}

need_build_tools() {
  need_packages "${BUILD_PACKAGES[@]}"
  find_cmake
}
