# One line per stage: the output of long commands goes to a log, and only what failed is shown. Sourced by ./dev.

# Shows the failed steps of a build with the compiler's output, or the end of the log if no step failed.
show_failure() {
  if grep -q '^FAILED: ' "$1"; then
    sed -n '/^FAILED: /,/^\[[0-9]*\/[0-9]*\]/p' "$1" | grep -v '^\[[0-9]*/[0-9]*\]' >&2
  else
    tail -40 "$1" >&2
  fi
  printf '(the whole output is in %s)\n' "$1" >&2
}

# Shows how far the build is, "[87/236]", on a line of its own until the process ends.
show_progress() {
  local log=$1 process=$2
  while kill -0 "$process" 2>/dev/null; do
    printf '\r    %s ' "$(tail -1 "$log" | grep -o '^\[[0-9]*/[0-9]*\]')" >&2
    sleep 1
  done
  printf '\r\033[K' >&2
}

# quietly LOG COMMAND...: its output goes to LOG; with a terminal, the steps of a build are counted in one line.
quietly() {
  local log=$1 started=$SECONDS status=0 process
  mkdir -p "${log%/*}"
  "${@:2}" >"$log" 2>&1 </dev/null &
  process=$!
  if [[ -t 2 ]]; then show_progress "$log" "$process" || true; fi
  wait "$process" || status=$?
  if [[ $status != 0 ]]; then
    show_failure "$log"
    return "$status"
  fi
  say "    done in $((SECONDS - started)) s"
}
