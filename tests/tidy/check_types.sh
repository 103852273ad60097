#!/usr/bin/env bash
# The Python client is fully typed, as its py.typed file says.
set -uo pipefail
cd clients/python || exit 1
/usr/bin/python3 -m mypy --strict --cache-dir ../../build/tidy/mypy src/runwire
