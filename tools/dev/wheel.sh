# ./dev wheel: the source distribution and the wheel, and a test that the wheel works in an empty environment. ./dev stubs: the types of
# the package. Sourced by ./dev.

# Files that are shipped: build/wheel/*.tar.gz and build/wheel/*.whl.
WHEEL_FOLDER=build/wheel

# The bridges to releases of PyTorch that the wheel contains, and the headers that they are built with, which are kept between runs.
READY_BRIDGES=$PWD/build/ready_bridges
TORCH_RELEASES=build/torch_releases

# What tools/ready_bridges.py, pip wheel and auditwheel are told besides, if the wheel is for another machine.
BRIDGE_OPTIONS=()
WHEEL_SETTINGS=()
REPAIR_OPTIONS=()

# The Pythons that a wheel can be made for; "t" has no GIL of its own.
SUPPORTED_PYTHONS=(3.10 3.11 3.12 3.13 3.14 3.14t)

# is_python PROGRAM VERSION: it runs (a shim of pyenv may not), and is that version.
is_python() {
  [[ $("$1" -c 'import sys; print("{}.{}".format(*sys.version_info) + sys.abiflags)' 2>/dev/null) == "$2" ]]
}

# all_pythons: one program for each supported version that is on the PATH or that pyenv has installed.
all_pythons() {
  local version program
  for version in "${SUPPORTED_PYTHONS[@]}"; do
    while read -r program; do
      if ! is_python "$program" "$version"; then continue; fi
      echo "$program"
      break
    done < <(type -ap "python$version" || true; compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/*/bin/python$version" || true)
  done
}

# build_bridges [RELEASES]: all releases, or those that are listed (2.8.0,2.13.0), or none.
build_bridges() {
  rm -rf "$READY_BRIDGES"
  mkdir -p "$READY_BRIDGES"
  [[ ${1:-} != none ]] || return 0
  build dev mindtorch_python
  say "Building the bridges to releases of PyTorch (downloads up to a gigabyte for each that $TORCH_RELEASES lacks)"
  PYTHONPATH=build/dev/python .venv/bin/python tools/ready_bridges.py --into "$READY_BRIDGES" --kept "$TORCH_RELEASES" \
    "${BRIDGE_OPTIONS[@]}" ${1:+--releases "$1"}
}

# build_distributions PYTHON...: the wheels are built from the source distribution, so that one that lacks a file is noticed. All are built in
# one tree, where only the Python module is compiled again for the next Python.
build_distributions() {
  local python settings
  rm -rf "$WHEEL_FOLDER"
  mkdir -p "$WHEEL_FOLDER/as_built" "$WHEEL_FOLDER/source"
  export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  .venv/bin/python -m build --sdist --outdir "$WHEEL_FOLDER" .
  tar -xf "$WHEEL_FOLDER"/*.tar.gz -C "$WHEEL_FOLDER/source" --strip-components 1
  settings=("${WHEEL_SETTINGS[@]}" --config-settings "cmake.define.MINDTORCH_READY_BRIDGES=$READY_BRIDGES"
    --config-settings "build-dir=$PWD/$WHEEL_FOLDER/tree")
  for python in "$@"; do
    "$python" -m pip wheel --no-deps --wheel-dir "$WHEEL_FOLDER/as_built" "${settings[@]}" "$WHEEL_FOLDER/source"
  done
  rm -r "$WHEEL_FOLDER/source" "$WHEEL_FOLDER/tree"
}

# Takes the libraries of this machine that they need into the wheels. PyTorch's own are there when a bridge is loaded.
repair_wheels() {
  local wheel
  for wheel in "$WHEEL_FOLDER"/as_built/*.whl; do
    PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m auditwheel repair --exclude libtorch_cpu.so --exclude libc10.so \
      "${REPAIR_OPTIONS[@]}" --wheel-dir "$WHEEL_FOLDER" "$wheel"
  done
  rm -r "$WHEEL_FOLDER/as_built"
}

# try_wheel PYTHON: an environment that holds the wheel and what it asks for, and a folder from which the sources cannot be seen.
try_wheel() {
  local bridges tag
  tag=$("$1" -c 'import sys; version = "cp{}{}".format(*sys.version_info); print(f"{version}-{version}{sys.abiflags}")')
  bridges=$(find "$READY_BRIDGES" -name torch.json | wc -l)
  rm -rf "$WHEEL_FOLDER/empty"
  "$1" -m venv "$WHEEL_FOLDER/empty"
  "$WHEEL_FOLDER/empty/bin/python" -m pip install --quiet --disable-pip-version-check "$WHEEL_FOLDER"/*-"$tag"-*.whl
  (cd / && env -u PYTHONPATH "$OLDPWD/$WHEEL_FOLDER/empty/bin/python" "$OLDPWD/tests/python/packaging/installed_check.py" "$bridges")
  rm -rf "$WHEEL_FOLDER/empty"
}

# choose_arm64: the wheel is for arm64 (tools/dev/arm64.sh). Its Python is Debian's, and qemu runs it.
choose_arm64() {
  need_arm64
  WHEEL_FOLDER=build/wheel_arm64
  READY_BRIDGES=$PWD/build/ready_bridges_arm64
  BRIDGE_OPTIONS=(--machine aarch64)
  WHEEL_SETTINGS=(--config-settings "cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/arm64.cmake")
  REPAIR_OPTIONS=(--ldpaths "$ARM64_LIBRARIES:$ARM64_ROOT/lib/aarch64-linux-gnu")
}

run_wheel() {
  local releases="" pythons=() python arch=""
  while [[ $# -gt 0 ]]; do
    case $1 in
      --torch) releases=${2:?} && shift 2 ;;
      --python) pythons+=("${2:?}") && shift 2 ;;
      --arch) arch=${2:?} && shift 2 ;;
      *) fail "wheel: unknown option $1" ;;
    esac
  done
  [[ $arch == "" || $arch == arm64 ]] || fail "wheel: --arch may be arm64, not $arch"
  [[ $arch == "" || ${#pythons[@]} == 0 ]] || fail "wheel: a wheel for $arch is for the Python of Debian; leave out --python"
  need_build_tools
  need_python
  need_python wheel
  if [[ $arch == arm64 ]]; then
    choose_arm64
    pythons=("$ARM64_PYTHON")
  fi
  if [[ ${#pythons[@]} == 0 ]]; then pythons=("$PWD/.venv/bin/python"); fi
  if [[ ${pythons[*]} == all ]]; then mapfile -t pythons < <(all_pythons); fi
  [[ ${#pythons[@]} -gt 0 ]] || fail "wheel: none of Python ${SUPPORTED_PYTHONS[*]} is installed"
  build_bridges "$releases"
  say "Building the source distribution and the wheel"
  build_distributions "${pythons[@]}"
  say "Taking the libraries it needs into the wheel"
  repair_wheels
  say "Trying the wheel in an empty environment"
  for python in "${pythons[@]}"; do try_wheel "$python"; done
  say "Made $(cd "$WHEEL_FOLDER" && echo *.whl *.tar.gz) in $WHEEL_FOLDER"
}

run_stubs() {
  build dev mindtorch_python mindtorch_python_runtime
  say "Writing __init__.pyi, _C.pyi and _runtime.pyi"
  PYTHONPATH=build/dev/python .venv/bin/python tools/stubs.py
  PYTHONPATH=build/dev/python .venv/bin/python tools/compiled_stubs.py
}
