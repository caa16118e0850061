# pdn-tracker on a free port, ready when it says so.
# shellcheck shell=bash

# start_tracker [OPTION…]: needs `binaries`. Sets:
#   tracker      its control URL (ws://…)
#   tracker_http its HTTP URL
#   tracker_key  its public membership key
#   tracker_pid, tracker_log
# TRACKER_ADDRESS is where it listens (127.0.0.1:0 picks a free port).
start_tracker() {
    local line
    tracker_log=$(mktemp "$work/tracker.XXXXXX")
    start "$tracker_log" "${within[@]}" "$binaries/pdn-tracker" \
        --listen "${TRACKER_ADDRESS:-127.0.0.1:0}" --membership-key "$work/membership.key" "$@"
    tracker_pid=$started
    await 15 tracker_settled || true
    line=$(grep -m 1 '^listening ' "$tracker_log") || {
        cat "$tracker_log" >&2
        die 4 "pdn-tracker did not become ready"
    }
    tracker=$(sed -n 's/.* \(wss\{0,1\}:[^ ]*\).*/\1/p' <<< "$line")
    tracker_http=$(sed -n 's/.* \(https\{0,1\}:[^ ]*\).*/\1/p' <<< "$line")
    tracker_key=$(sed -n 's/.* key=\([^ ]*\).*/\1/p' <<< "$line")
}

tracker_settled() { grep -q '^listening ' "$tracker_log" || ! alive "$tracker_pid"; }
