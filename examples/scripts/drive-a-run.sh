#!/usr/bin/env bash
# Drives a run from the shell: presses buttons, reads the state, and tells by the exit status what became of each press.
#   examples/scripts/drive-a-run.sh [path to busnode]
set -euo pipefail
cd "$(dirname "$0")/../.."
busnode=${1:-.build/release/busnode}

# A bus of its own, gone when the script is.
place=$(mktemp -d /tmp/runbus-drive-XXXXXX)
export RUNBUS_BUS=drive XDG_RUNTIME_DIR=$place XDG_STATE_HOME=$place/state
"$busnode" phone --synthetic --speed 10 >"$place/phone.log" 2>&1 &
phone=$!
trap 'kill "$phone" 2>/dev/null || true; wait "$phone" || true; rm -rf "$place"' EXIT

# Wait for the phone: until it is there, no such bus (69).
reach() { until "$busnode" state >/dev/null 2>&1; do kill -0 "$phone"; done; }

# Runs a command and checks its exit status.
expect() { # status, command ...
  local status=0
  "${@:2}" || status=$?
  [ "$status" -eq "$1" ] || {
    echo "expected exit status $1, got $status: ${*:2}" >&2
    exit 1
  }
}

reach

expect 3 "$busnode" send pause                        # rejected: no run has been started
expect 0 "$busnode" send start
expect 0 "$busnode" send lap --wait received          # the hub has it: no waiting for the verdict
expect 0 "$busnode" send pause --source watch
expect 3 "$busnode" send start                        # rejected: a run is already on

# Any number of them side by side: one press counts, all have their verdict.
presses=()
for source in phone watch live-activity; do
  "$busnode" send resume --source "$source" &
  presses+=($!)
done
for press in "${presses[@]}"; do expect 0 wait "$press"; done

# The phone is down: a pause waits on this machine, and counts from when it was pressed.
kill "$phone"
wait "$phone"
expect 69 "$busnode" send lap --no-queue 2>/dev/null  # now or never
lap=$("$busnode" send lap --json | sed 's/.*"commandId":"\([0-9a-f]*\)".*/\1/') || [ $? -eq 5 ]
expect 0 "$busnode" outbox cancel "$lap"              # never sent: it can be taken back
expect 5 "$busnode" send pause
"$busnode" outbox
"$busnode" phone --synthetic --speed 10 >>"$place/phone.log" 2>&1 &
phone=$!
reach
expect 0 "$busnode" outbox flush
expect 0 "$busnode" send resume
"$busnode" peers

expect 0 "$busnode" send stop
expect 3 "$busnode" send resume                       # rejected: the run is already completed
expect 64 "$busnode" send jump 2>/dev/null            # wrong usage
expect 69 "$busnode" state --bus nobody 2>/dev/null   # no such bus
"$busnode" state
