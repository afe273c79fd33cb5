#!/usr/bin/env bash
# Drives a run from the shell: presses buttons, reads the state, and checks the exit status of each press.
#   examples/scripts/drive-a-run.sh [path to busnode]
set -euo pipefail
cd "$(dirname "$0")/../.."
busnode=${1:-.build/release/busnode}

# Use a bus of its own, which is removed at the end of the script.
place=$(mktemp -d /tmp/runbus-drive-XXXXXX)
export RUNBUS_BUS=drive XDG_RUNTIME_DIR=$place XDG_STATE_HOME=$place/state
"$busnode" phone --synthetic --speed 10 >"$place/phone.log" 2>&1 &
phone=$!
trap 'kill "$phone" 2>/dev/null || true; wait "$phone" || true; rm -rf "$place"' EXIT

# Waits for the phone. Until it runs, busnode exits with 69 (no such bus).
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
expect 0 "$busnode" send lap --wait received          # the hub has the press; does not wait for the verdict
expect 0 "$busnode" send pause --source watch
expect 3 "$busnode" send start                        # rejected: a run is already on

# Three presses at once: one of them counts, and each receives its verdict.
presses=()
for source in phone watch live-activity; do
  "$busnode" send resume --source "$source" &
  presses+=($!)
done
for press in "${presses[@]}"; do expect 0 wait "$press"; done

# While the phone is down, a pause waits on this machine. It counts from the time when it was pressed.
kill "$phone"
wait "$phone"
expect 69 "$busnode" send lap --no-queue 2>/dev/null  # is not kept for later
lap=$("$busnode" send lap --json | sed 's/.*"commandId":"\([0-9a-f]*\)".*/\1/') || [ $? -eq 5 ]
expect 0 "$busnode" outbox cancel "$lap"              # was never sent, so it can be cancelled
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
