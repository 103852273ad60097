#!/usr/bin/env bash
# An include may only point at its own room or a lower one: codec < engine < bus < bridge. The system
# headers are visible to every target, so that only this check keeps ZeroMQ where it belongs.
set -uo pipefail
bad=0

# deny PATTERN WHY FILES...: no line of these files may match.
deny() {
  local pattern=$1 why=$2
  shift 2
  [[ $# -gt 0 ]] || return 0
  if grep -nHE "$pattern" "$@"; then
    echo "^ $why"
    bad=1
  fi
}

# sources FOLDER...: the C++ files below, one a line; a room that does not exist yet has none.
sources() { find "$@" -name '*.hpp' -o -name '*.cpp' -o -name '*.h' 2>/dev/null | sort; }
headers() { find "$@" -name '*.hpp' -o -name '*.h' 2>/dev/null | sort; }

mapfile -t files < <(sources codec)
deny '#include ["<](engine|bus|bridge)/' 'codec is the lowest room' "${files[@]}"
deny '#include <(thread|mutex|condition_variable|fstream|filesystem)' \
  'codec has no threads and no files' "${files[@]}"

mapfile -t files < <(sources engine)
deny '#include ["<](bus|bridge)/' 'engine is below bus' "${files[@]}"
deny '#include <msgpack' 'engine does not know msgpack' "${files[@]}"

mapfile -t files < <(sources bus)
deny '#include ["<]bridge/' 'bus is below bridge' "${files[@]}"

mapfile -t files < <(sources bus/client bus/zmq)
deny '#include ["<](engine|bus/source)/' 'a client knows the protocol, not the engine' "${files[@]}"

mapfile -t files < <(sources codec engine bus bridge | grep -v '^bus/zmq/')
deny '#include <zmq' 'all socket traffic goes through the one seam, bus/zmq' "${files[@]}"

# Of the bridges only the server command with what it is made of, the store commands, the relay and
# play know the engine.
mapfile -t files < <(sources bridge |
  grep -vE '^bridge/(relay|play)/|^bridge/cli/(serve|server|store|sabotage)[a-z_]*\.')
deny '#include ["<](engine|bus/source)/' 'this bridge is a client: it speaks the protocol' "${files[@]}"

# Costly headers are compiled once, in the file that needs them.
mapfile -t files < <(headers codec engine bus bridge)
deny '#include <(zmq|msgpack|catch2/|simdjson|nlohmann/json\.hpp|sqlite3)' 'too costly for a header' "${files[@]}"

exit "$bad"
