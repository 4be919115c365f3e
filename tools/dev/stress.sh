# ./dev stress: hostile cases drawn from a seed, in a build of their own choice. Sourced by ./dev.

# The value of option $1 among the other arguments, or $2.
option_value() {
  local name=$1 value=$2
  shift 2
  while [[ $# -gt 0 ]]; do
    case $1 in
      "$name") value=${2:-} && shift ;;
      "$name"=*) value=${1#*=} ;;
    esac
    shift
  done
  echo "$value"
}

run_stress() {
  local preset host
  preset=$(option_value --preset dev "$@")
  host=$(option_value --host both "$@")
  case $preset in
    dev) build dev mindtorch_python mindtorch_python_runtime mtprof recorder_stress stress_faults ;;
    *) build "$preset" recorder_stress ;;
  esac
  if [[ $preset == dev && $host != embedded ]]; then
    need_python torch
    PYTHONPATH=build/dev/python MINDTORCH_LIBRARY_PATH=torch_bridge=$PWD/build/dev/torch_bridge \
      .venv/bin/python -m mindtorch_v2.torch_bridge build
  fi
  say "Stress ($preset)"
  .venv/bin/python tests/stress/stress.py "$@"
}
