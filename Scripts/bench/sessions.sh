# Many sessions in one process: CPU and memory of each.
# shellcheck shell=bash

# bench_sessions: 200 viewers without decode, about 1 Mbps each (the middle rendition with its audio), in one process. The
# store of each is in memory and full, at the least limit that can be set, before the first one ends: what is left is the
# session's own.
bench_sessions() {
    local viewers=${BENCH_SESSIONS:-200} seconds=120 peak cpu status
    serve_title "$seconds"
    viewer_options
    # What the process needs beside sessions: about what it needs with one that has played a little.
    local base
    swarm_start one 1 "$dash" --rendition 1 --duration 10s
    base=$(watch_process "$swarm_pid")
    swarm_wait || die 1 "a single viewer failed: $(tail -n 3 "$swarm_log")"
    swarm_start sessions "$viewers" "$dash" --rendition 1 --stagger 100ms --set memory-limit=8MiB --set disk-limit=0
    status=$(watch_process "$swarm_pid")
    swarm_wait || die 1 "the swarm failed: $(tail -n 3 "$swarm_log")"
    read -r peak cpu <<< "$status"
    read -r base _ <<< "$base"
    python3 - "$viewers" "$peak" "$cpu" "$base" "$seconds" "${stats[0]}" << 'END'
import json, sys
viewers, peak, cpu, base, seconds = (float(value) for value in sys.argv[1:6])
document = json.load(open(sys.argv[6]))
# A session's own memory is what is left without its store, which is within a segment of its 8 MiB: what must go to come
# below the limit goes, and no more.
segment = max(viewer["meanBitrate"] for viewer in document["viewers"]) * 2 / 8 / 2**20
store = 8 - segment
memory = (peak - base) / 1024 / (viewers - 1)
def line(name, value, unit):
    print(json.dumps({"name": name, "value": round(value, 3), "unit": unit, "limit": None, "ratio": None}))
line("session-memory-with-store", memory, "MiB per session")
line("session-memory", memory - store, "MiB per session beside its store")
line("session-cpu", cpu / viewers / seconds * 1000, "CPU ms per session and second of stream")
END
}

# watch_process PID: prints the peak of its resident memory in KiB and its CPU seconds, when it has ended.
watch_process() {
    local peak=0 ticks=0 now fields
    while alive "$1"; do
        now=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2> /dev/null) || break
        fields=$(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null) || break
        [[ -n $now ]] && peak=$now
        [[ -n $fields ]] && ticks=$(awk '{ print $12 + $13 }' <<< "$fields")
        sleep 0.2
    done
    awk -v peak="$peak" -v ticks="$ticks" -v rate="$(getconf CLK_TCK)" 'BEGIN { print peak, ticks / rate }'
}
