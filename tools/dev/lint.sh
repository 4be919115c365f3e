# ./dev lint and ./dev format: layout, layers, and mistakes that tools find. Sourced by ./dev.

# tracked PATTERN...: our files that match, new ones included, each ending in a NUL.
tracked() { git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@"; }

run_format() {
  need_python
  need_python lint
  say "Laying out C++ and Python"
  tracked '*.h' '*.cpp' '*.cu' | xargs -0 -r .venv/bin/clang-format -i
  .venv/bin/ruff format --quiet
  .venv/bin/ruff check --quiet --fix
}

# Translation units for clang-tidy: those that differ from the main branch, or all where that cannot be told.
tidy_files() {
  local base=""
  if [[ ${1:-} != --all ]]; then base=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || true); fi
  if [[ -n $base ]]; then
    { git diff -z --name-only --diff-filter=d "$base" && git ls-files -z --others --exclude-standard; } | tr '\0' '\n'
  else
    git ls-files
  fi | grep -E '^(mindtorch|mtprof|benchmarks|examples|tests)/.*\.cpp$' | sort -u
}

run_tidy() {
  local files
  files=$(tidy_files "$@" | python3 tools/compiled_files.py build/dev/compile_commands.json)
  [[ -n $files ]] || return 0
  say "clang-tidy ($(wc -l <<<"$files") files)"
  xargs -d '\n' -P "$(nproc)" -n 1 clang-tidy -p build/dev --quiet --warnings-as-errors='*' <<<"$files" 2> >(grep -v 'warnings generated' >&2)
}

run_lint() {
  local failed=0
  need_build_tools
  need_packages "${LINT_PACKAGES[@]}"
  need_python
  need_python lint
  say "Layers (tools/check_layers.py)"
  .venv/bin/python tools/check_layers.py || failed=1
  say "Layout (clang-format)"
  tracked '*.h' '*.cpp' '*.cu' | xargs -0 -r .venv/bin/clang-format --dry-run -Werror || failed=1
  say "Python (ruff)"
  { .venv/bin/ruff check --quiet && .venv/bin/ruff format --quiet --check; } || failed=1
  say "Shell (shellcheck)"
  shellcheck --external-sources dev .ci/run || failed=1
  "$CMAKE" --preset dev --log-level=WARNING >/dev/null
  run_tidy "$@" || failed=1
  [[ $failed == 0 ]] || fail "lint: see above"
  say "lint: nothing to complain about"
}
