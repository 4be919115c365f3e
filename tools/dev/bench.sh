# ./dev bench: runs benchmarks in a release build and shows their results. Sourced by ./dev.

# A benchmark is benchmarks/NAME.cpp, benchmarks/NAME.py or both.
benchmark_names() {
  find benchmarks -maxdepth 1 \( -name '*.cpp' -o -name '*.py' \) -printf '%f\n' | sed 's/\.[^.]*$//' | sort -u
}

# run_benchmarks NAME...: writes their results to standard output, one JSON object per line.
run_benchmarks() {
  local name
  export MINDTORCH_BUILD_DIR=$PWD/build/release
  for name in "$@"; do
    say "Benchmark $name"
    if [[ -e benchmarks/$name.cpp ]]; then "build/release/bin/bench_$name"; fi
    if [[ -e benchmarks/$name.py ]]; then .venv/bin/python "benchmarks/$name.py"; fi
  done
}

# compare_with_torch NAME...: whether one of them measures PyTorch too.
compare_with_torch() {
  local name
  for name in "$@"; do
    if grep -qsE '^ *(import torch|from hta)' "benchmarks/$name.py"; then return 0; fi
  done
  return 1
}

run_bench() {
  local argument names=() show=(.venv/bin/python tools/bench_table.py)
  for argument in "$@"; do
    case $argument in
      --json) show=(cat) ;;
      -*) fail "bench: unknown option $argument" ;;
      *) names+=("$argument") ;;
    esac
  done
  [[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(benchmark_names)
  for argument in "${names[@]}"; do
    [[ -e benchmarks/$argument.cpp || -e benchmarks/$argument.py ]] ||
      fail "bench: no benchmark '$argument'; there are: $(benchmark_names | tr '\n' ' ')"
  done
  need_packages "${BENCH_PACKAGES[@]}"
  need_python >&2
  if compare_with_torch "${names[@]}"; then
    need_python torch >&2 || say "PyTorch could not be installed: there will be results without a ratio"
  fi
  build release benchmarks mindtorch_python mindtorch_python_runtime mtprof >&2
  run_benchmarks "${names[@]}" | "${show[@]}"
}
