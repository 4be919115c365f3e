# ./dev fuzz: the readers against inputs that a fuzzer makes up, under AddressSanitizer and UndefinedBehaviorSanitizer. Sourced by ./dev.

FUZZ_TARGETS=(mtrec json json_gz pftrace command_line)
# Nothing may take more memory (MiB) or time (seconds, for inputs of a few KiB under sanitizers) than this.
FUZZ_LIMITS=(-rss_limit_mb=2048 -timeout=10 -max_len=8192)

# fuzz_one TARGET SECONDS: starts from the corpus in the tree; what it finds in addition stays below build/asan/fuzz, beside its output.
fuzz_one() {
  local found=$PWD/build/asan/fuzz/$1 log=build/asan/fuzz/$1.log
  mkdir -p "$found"
  if ! "${LAUNCHER[@]}" "build/asan/bin/fuzz_$1" "${FUZZ_LIMITS[@]}" -max_total_time="$2" -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$found-" "$found" "$PWD/tests/fuzz/corpus/$1" 2>&1 >/dev/null | grep -av '^mtprof: \|^Run with --help' >"$log"; then
    cat "$log" >&2
    printf 'fuzz: %s failed; the input is in build/asan/fuzz\n' "$1" >&2
    return 1
  fi
  printf '%s: %s executions\n' "$1" "$(awk '/number_of_executed_units/ {print $2}' "$log")"
}

# run_fuzz [TARGET] [--seconds N]: as many targets at a time as there are cores.
run_fuzz() {
  local seconds=60 targets=("${FUZZ_TARGETS[@]}") target
  while [[ $# -gt 0 ]]; do
    case $1 in
      --seconds) seconds=${2:?} && shift ;;
      -*) fail "fuzz: unknown option $1" ;;
      *) targets=("$1") ;;
    esac
    shift
  done
  for target in "${targets[@]}"; do
    [[ -d tests/fuzz/corpus/$target ]] || fail "fuzz: no target $target; there are: ${FUZZ_TARGETS[*]}"
  done
  build asan fuzzers
  fix_memory_layout
  say "Fuzzing ${targets[*]} for $seconds s each"
  local running=0 failed=0
  for target in "${targets[@]}"; do
    if [[ $running -ge $(nproc) ]]; then wait -n || failed=1; else running=$((running + 1)); fi
    fuzz_one "$target" "$seconds" &
  done
  while [[ $running -gt 0 ]]; do
    wait -n || failed=1
    running=$((running - 1))
  done
  [[ $failed == 0 ]] || fail "fuzz: some targets failed, see above"
}
