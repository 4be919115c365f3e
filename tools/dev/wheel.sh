# ./dev wheel: the source distribution and the wheel, and a test that the wheel works in an empty environment. ./dev stubs: the types of
# the package. Sourced by ./dev.

# Files that are shipped: build/wheel/*.tar.gz and build/wheel/*.whl.
WHEEL_FOLDER=build/wheel

# The bridges to releases of PyTorch that the wheel contains, and the headers that they are built with, which are kept between runs.
READY_BRIDGES=$PWD/build/ready_bridges
TORCH_RELEASES=build/torch_releases

# build_bridges [RELEASES]: all releases, or those that are listed (2.8.0,2.13.0), or none.
build_bridges() {
  rm -rf "$READY_BRIDGES"
  mkdir -p "$READY_BRIDGES"
  [[ ${1:-} != none ]] || return 0
  build dev mindtorch_python
  say "Building the bridges to releases of PyTorch (downloads up to a gigabyte for each that $TORCH_RELEASES lacks)"
  PYTHONPATH=build/dev/python .venv/bin/python tools/ready_bridges.py --into "$READY_BRIDGES" --kept "$TORCH_RELEASES" ${1:+--releases "$1"}
}

# build_distributions [PYTHON...]: the wheel is built from the source distribution, so that one that lacks a file is noticed.
build_distributions() {
  local python setting=cmake.define.MINDTORCH_READY_BRIDGES=$READY_BRIDGES
  rm -rf "$WHEEL_FOLDER"
  mkdir -p "$WHEEL_FOLDER/as_built"
  export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  .venv/bin/python -m build --sdist --outdir "$WHEEL_FOLDER" .
  for python in "$@"; do
    "$python" -m pip wheel --no-deps --wheel-dir "$WHEEL_FOLDER/as_built" --config-settings "$setting" "$WHEEL_FOLDER"/*.tar.gz
  done
}

# Takes the libraries of this machine that they need into the wheels. PyTorch's own are there when a bridge is loaded.
repair_wheels() {
  local wheel
  for wheel in "$WHEEL_FOLDER"/as_built/*.whl; do
    PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m auditwheel repair --exclude libtorch_cpu.so --exclude libc10.so \
      --wheel-dir "$WHEEL_FOLDER" "$wheel"
  done
  rm -r "$WHEEL_FOLDER/as_built"
}

# try_wheel PYTHON: an environment that holds the wheel and what it asks for, and a folder from which the sources cannot be seen.
try_wheel() {
  local bridges tag
  tag=$("$1" -c 'import sys; print("cp{}{}".format(*sys.version_info))')
  bridges=$(find "$READY_BRIDGES" -name torch.json | wc -l)
  rm -rf "$WHEEL_FOLDER/empty"
  "$1" -m venv "$WHEEL_FOLDER/empty"
  "$WHEEL_FOLDER/empty/bin/python" -m pip install --quiet --disable-pip-version-check "$WHEEL_FOLDER"/*-"$tag"-*.whl
  (cd / && env -u PYTHONPATH "$OLDPWD/$WHEEL_FOLDER/empty/bin/python" "$OLDPWD/tests/python/packaging/installed_check.py" "$bridges")
  rm -rf "$WHEEL_FOLDER/empty"
}

run_wheel() {
  local releases="" pythons=() python
  while [[ $# -gt 0 ]]; do
    case $1 in
      --torch) releases=${2:?} && shift 2 ;;
      --python) pythons+=("${2:?}") && shift 2 ;;
      *) fail "wheel: unknown option $1" ;;
    esac
  done
  need_build_tools
  need_python
  need_python wheel
  if [[ ${#pythons[@]} == 0 ]]; then pythons=("$PWD/.venv/bin/python"); fi
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
  build dev mindtorch_python
  say "Writing python/mindtorch_v2/__init__.pyi and _C.pyi"
  PYTHONPATH=build/dev/python .venv/bin/python tools/stubs.py
  PYTHONPATH=build/dev/python .venv/bin/python tools/compiled_stubs.py
}
