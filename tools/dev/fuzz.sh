# ./dev fuzz: the readers against inputs that a fuzzer makes up, under AddressSanitizer and UndefinedBehaviorSanitizer. Sourced by ./dev.

FUZZ_PACKAGES=(clang libclang-rt-14-dev)
FUZZ_TARGETS=(mtrec json json_gz pftrace command_line)
# Nothing may take more memory (MiB) or time (seconds, for inputs of a few KiB under sanitizers) than this.
FUZZ_LIMITS=(-rss_limit_mb=2048 -timeout=10 -max_len=8192)

# fuzz_one TARGET SECONDS: starts from the corpus in the tree; what it finds in addition stays below build/fuzz.
fuzz_one() {
  local found=$PWD/build/fuzz/corpus/$1
  [[ -d tests/fuzz/corpus/$1 ]] || fail "fuzz: no target $1; there are: ${FUZZ_TARGETS[*]}"
  mkdir -p "$found"
  say "Fuzzing $1 for $2 s"
  "build/fuzz/bin/fuzz_$1" "${FUZZ_LIMITS[@]}" -max_total_time="$2" -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$PWD/build/fuzz/$1-" "$found" "$PWD/tests/fuzz/corpus/$1" 2> >(grep -av '^mtprof: \|^Run with --help' >&2)
}

# run_fuzz [TARGET] [--seconds N]
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
  need_packages "${FUZZ_PACKAGES[@]}"
  build fuzz fuzzers
  for target in "${targets[@]}"; do fuzz_one "$target" "$seconds" || fail "fuzz: $target failed; the input is in build/fuzz"; done
}
