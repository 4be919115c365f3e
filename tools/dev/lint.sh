# ./dev lint and ./dev format: layout, layers, and mistakes that tools find. Sourced by ./dev.

# Our C++ files, new ones included, each name ending in a NUL. The checkout may belong to another user, as it does in containers.
cpp_files() { git -c safe.directory='*' ls-files -z --cached --others --exclude-standard --deduplicate -- '*.h' '*.cpp' '*.cu'; }

need_lint_tools() {
  need_build_tools
  need_packages "${LINT_PACKAGES[@]}"
  need_python
  need_python lint
  export PATH=$PWD/.venv/bin:$PATH
}

run_format() {
  need_lint_tools
  say "Laying out C++ and Python"
  cpp_files | xargs -0 -r clang-format -i
  ruff check --quiet --fix-only
  ruff format --quiet
}

# lint_step TITLE COMMAND...: all steps run, even when one has failed.
lint_failures=()
lint_step() {
  say "lint: $1"
  "${@:2}" || lint_failures+=("$1")
}

check_layout() { cpp_files | xargs -0 -r clang-format --dry-run -Werror --ferror-limit=1; }
check_python() { ruff check --quiet && ruff format --quiet --check; }

run_lint() {
  need_lint_tools
  lint_step layers python tools/check_layers.py
  lint_step rooms python tools/check_imports.py
  lint_step tests python tools/check_tests.py
  lint_step layout check_layout
  lint_step Python check_python
  lint_step shell shellcheck --external-sources dev .ci/run
  configure dev
  lint_step clang-tidy python tools/tidy.py "$@"
  [[ ${#lint_failures[@]} == 0 ]] || fail "lint: findings in ${lint_failures[*]}, see above"
  say "lint: nothing to complain about"
}
