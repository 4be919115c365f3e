# ./dev wheel: the source distribution and the wheel, and a test that the wheel works in an empty environment. ./dev stubs: the types of
# the package. Sourced by ./dev.

# Files that are shipped: build/wheel/*.tar.gz and build/wheel/*.whl.
WHEEL_FOLDER=build/wheel

build_distributions() {
  rm -rf "$WHEEL_FOLDER"
  mkdir -p "$WHEEL_FOLDER/as_built"
  # Builds the wheel from the source distribution, so that one that lacks a file is noticed.
  CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) .venv/bin/python -m build --outdir "$WHEEL_FOLDER/as_built" .
  mv "$WHEEL_FOLDER"/as_built/*.tar.gz "$WHEEL_FOLDER"
}

# Takes the libraries of this machine that it needs into the wheel.
repair_wheel() {
  PATH=$PWD/.venv/bin:$PATH .venv/bin/python -m auditwheel repair --wheel-dir "$WHEEL_FOLDER" "$WHEEL_FOLDER"/as_built/*.whl
  rm -r "$WHEEL_FOLDER/as_built"
}

# An environment that holds the wheel and what it asks for, and a folder from which the sources cannot be seen.
try_wheel() {
  rm -rf "$WHEEL_FOLDER/empty"
  python3 -m venv "$WHEEL_FOLDER/empty"
  "$WHEEL_FOLDER/empty/bin/python" -m pip install --quiet --disable-pip-version-check "$WHEEL_FOLDER"/*.whl
  (cd / && env -u PYTHONPATH "$OLDPWD/$WHEEL_FOLDER/empty/bin/python" "$OLDPWD/tests/python/packaging/installed_check.py")
  rm -rf "$WHEEL_FOLDER/empty"
}

run_wheel() {
  need_build_tools
  need_python
  need_python wheel
  say "Building the source distribution and the wheel"
  build_distributions
  say "Taking the libraries it needs into the wheel"
  repair_wheel
  say "Trying the wheel in an empty environment"
  try_wheel
  say "Made $(cd "$WHEEL_FOLDER" && echo *.whl *.tar.gz) in $WHEEL_FOLDER"
}

run_stubs() {
  build dev mindtorch_python
  say "Writing python/mindtorch_v2/__init__.pyi and _C.pyi"
  PYTHONPATH=build/dev/python .venv/bin/python tools/stubs.py
  PYTHONPATH=build/dev/python .venv/bin/python tools/compiled_stubs.py
}
