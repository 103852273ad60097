#!/usr/bin/env bash
# The scripts parse and may be run.
set -uo pipefail
bad=0
for script in dev .ci/run tests/tidy/run tests/tidy/*.sh; do
  bash -n "$script" || bad=1
done
for script in dev .ci/run tests/tidy/run; do
  [[ -x $script ]] || { echo "$script is not executable"; bad=1; }
done
exit "$bad"
