#!/usr/bin/env bash
# Nothing is left for later in the source, and no test waits by the clock.
set -uo pipefail
bad=0

deny() {
  local pattern=$1 why=$2
  shift 2
  if grep -rnE "$pattern" --exclude-dir=tidy --exclude-dir=__pycache__ "$@"; then
    echo "^ $why"
    bad=1
  fi
}
here() { local folder; for folder in "$@"; do [[ ! -e $folder ]] || echo "$folder"; done; }

mapfile -t all < <(here codec engine bus bridge clients tests bench examples cmake dev .ci)
deny '\b(TODO|FIXME|XXX|HACK)\b' 'do it, or file it' "${all[@]}"
deny 'not (yet )?implemented' 'what is not there has no code' "${all[@]}"

mapfile -t tests < <(here tests/codec tests/engine tests/bus tests/bridge tests/cases tests/support)
deny '\b(sleep_for|sleep_until|usleep|nanosleep)\b' 'wait for a condition, with a deadline' "${tests[@]}"

# Polling a condition of another process needs short pauses; half a second is a guess about speed.
mapfile -t python < <(here tests/e2e tests/prove clients/python/tests)
[[ ${#python[@]} -eq 0 ]] ||
  deny '\bsleep\((0?\.[5-9]|[1-9])' 'wait for a condition, with a deadline' --include='*.py' "${python[@]}"

exit "$bad"
