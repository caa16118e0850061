# What goes wrong around a session: it ends without a stall beyond what CDN-only playback has, or with a clear error.
# shellcheck shell=bash

# healthy NAME CODE [CRITERION…]: nobody failed or stalled.
healthy() {
    local name=$1 code=$2
    shift 2
    judge_code "$name" "$code"
    judge "$name" 'failed==0' 'stalls==0' "$@"
}

check_faults_tracker_before() {
    local code=0
    serve_title "$length"
    viewer_options
    end "$tracker_pid"
    swarm faults-tracker-before 4 "$hls" --stagger 1s || code=$?
    healthy faults-tracker-before "$code"
}

check_faults_tracker_during() {
    local code=0
    serve_title "$length"
    viewer_options
    swarm_start faults-tracker-during 6 "$hls" --stagger 1s
    await "$length" tracker_has 6 || true
    await "$length" played $((length / 4)) || true
    end "$tracker_pid" 5 KILL
    swarm_wait || code=$?
    healthy faults-tracker-during "$code" 'sum.bytes.peers>0'
}

# Half of the viewers, separate processes, killed in the middle.
check_faults_viewers_killed() {
    local name=faults-viewers-killed index code=0 one
    local -a pids=()
    serve_title "$length"
    viewer_options
    stats=()
    log_start=$(stat -c %s "$cdn_log")
    for ((index = 1; index <= 8; index++)); do
        if ((index % 2)); then
            play_start "$name-$index" "$hls" "${viewer[@]}"
            pids+=("$started")
        else
            start "$work/$name-$index.log" "$pdn" play --headless "$hls" "${viewer[@]}"
            victims+=("$started")
        fi
    done
    await "$length" tracker_has 8 || true
    await "$length" played $((length / 4)) || true
    for one in "${victims[@]}"; do end "$one" 5 KILL; done
    for one in "${pids[@]}"; do
        finish_within "$((4 * length + 120))" "$one" || code=$?
    done
    healthy "$name" "$code" 'viewers==4' 'sum.bytes.peers>0'
}
declare -a victims=()

# A peer made by the second implementation, that misbehaves: MODE is what it does.
hostile_peer() {
    local name=$1 mode=$2 code=0
    serve_title "$length"
    viewer_options
    swarm_start "$name" 4 "$hls" --stagger 4s
    await 10 tracker_has 1 || true
    start "$work/hostile.log" "$repository/Tests/SwarmProtocolTests/Python/run.sh" attacker.py "$mode" \
        --tracker "$tracker" --catalogue "$www/cmaf/title.pdn" --authority "$authority" --duration "$((length + 20))" --report "$work/hostile.json"
    hostile_pid=$started
    swarm_wait || code=$?
    end "$hostile_pid" 5
    healthy "$name" "$code" 'max.peersBanned<=1'
    # What it was asked for and what it sent: a peer that nobody turned to would prove nothing.
    if grep -qE '"requests": [1-9]' "$work/hostile.json"; then
        verdict "$name" PASS 'viewers asked the peer for chunks'
    else
        verdict "$name" FAIL "nobody asked the peer for anything: $(tail -n 1 "$work/hostile.json" | cut -c 1-160)"
    fi
}
check_faults_silent_peer() { hostile_peer faults-silent-peer never-deliver; }
check_faults_slow_peer() { hostile_peer faults-slow-peer drip; }

# cdn_fault NAME KIND PATTERN [RATE]: a swarm against a CDN with the fault, and one viewer without the PDN against the same.
cdn_fault() {
    local name=$1 code=0 alone
    shift
    prepare_title "$length"
    start_cdn "$www"
    name_urls
    sign_title
    stop_cdn
    start_faulty_origin "$www"
    no_faults
    fault "$@"
    start_cdn "$www"
    name_urls
    start_tracker

    viewer=(--pdn off)
    swarm "$name-alone" 1 "$hls" || code=$?
    alone=$(python3 "$repository/Scripts/lib/stats.py" get "${stats[@]}" -- max.stalls 2> /dev/null) || alone=unknown
    if ((code != 0)); then
        # Bytes that are really gone: an error that says so, from this viewer and from every one of the swarm.
        clear_error "$name" 'CDN only'
        viewer_options
        code=0
        swarm "$name" 6 "$hls" --stagger 1s || code=$?
        ((code == 0)) || clear_error "$name" 'swarm'
        return
    fi
    viewer_options
    swarm "$name" 6 "$hls" --stagger 1s || code=$?
    judge_code "$name" "$code"
    judge "$name" 'failed==0' "max.stalls<=$alone"
}

# clear_error NAME WHO: the last run failed, and its last line says what, where, and not how it crashed.
clear_error() {
    local line
    line=$(grep -v '^[[:space:]]*$' "$swarm_log" | tail -n 1)
    if [[ -n $line ]] && grep -qiE '404|500|status|segment|truncated|short|CDN' <<< "$line" && ! grep -qE 'Fatal error|Trace/BPT|Crash' "$swarm_log"; then
        verdict "$1" PASS "$2: ends with a clear error: ${line:0:140}"
    else
        verdict "$1" FAIL "$2: ends without a clear error: ${line:0:140}"
    fi
}

check_faults_cdn_404() { cdn_fault faults-cdn-404 404 'segment-0-00003'; }
check_faults_cdn_500() { cdn_fault faults-cdn-500 500 'segment-0-00003'; }
check_faults_cdn_truncated() { cdn_fault faults-cdn-truncated truncated 'segment-0-0000[35]'; }
check_faults_cdn_slow() { cdn_fault faults-cdn-slow slow 'segment-0-0000[35]' 400k; }

# catalogue_fault NAME: the catalogue beside the manifests has been spoilt by now: CDN-only playback, said once, and no loop.
catalogue_fault() {
    local name=$1 code=0 lines requests
    start_tracker
    viewer_options
    log_start=$(stat -c %s "$cdn_log")
    swarm "$name" 3 "$hls" --stagger 1s || code=$?
    healthy "$name" "$code" 'sum.bytes.peers==0'
    lines=$(grep -ciE 'catalogue' "$swarm_log" || true)
    settle_cdn_log
    requests=$(tail -c "+$((log_start + 1))" "$cdn_log" | grep -c '\.pdn' || true)
    if ((lines >= 1 && lines <= 3)); then
        verdict "$name" PASS "$lines log lines for 3 viewers (one each at most)"
    else
        verdict "$name" FAIL "$lines log lines for 3 viewers (must be 1 to 3)"
    fi
    if ((requests <= 12)); then
        verdict "$name" PASS "$requests catalogue requests of 3 viewers (must be ≤ 12)"
    else
        verdict "$name" FAIL "$requests catalogue requests of 3 viewers (must be ≤ 12)"
    fi
}

signed_title() {
    prepare_title "$length"
    start_cdn "$www"
    name_urls
    sign_title
}

check_faults_catalogue_missing() {
    signed_title
    rm "$www"/cmaf/*.pdn
    catalogue_fault faults-catalogue-missing
}

check_faults_catalogue_truncated() {
    signed_title
    truncate -s 700 "$www/cmaf/title.pdn"
    catalogue_fault faults-catalogue-truncated
}

check_faults_catalogue_foreign_key() {
    signed_title
    # Signed by the key above; the viewers trust another.
    authority=$("$pdn" keygen --role authority --out "$work/other.key")
    catalogue_fault faults-catalogue-foreign-key
}

check_faults_catalogue_foreign_stream() {
    signed_title
    cp "$www/ts/title.pdn" "$www/cmaf/title.pdn"
    catalogue_fault faults-catalogue-foreign-stream
}

# A segment that the CDN serves differs from its valid record: played, not shared, counted, given up after two.
check_cdn_mismatch() {
    local name=cdn-mismatch code=0 segment
    signed_title
    for segment in 3 4 5; do
        replace_file "cmaf/segment-0-0000$segment.m4s"
        # Other bytes of the same length, inside the last picture's data.
        printf 'altered' | dd of="$www/cmaf/segment-0-0000$segment.m4s" bs=1 conv=notrunc status=none \
            seek=$(($(stat -c %s "$www/cmaf/segment-0-0000$segment.m4s") - 64))
    done
    start_tracker
    viewer_options
    swarm "$name" 3 "$hls" --stagger 1s || code=$?
    # Two in a rendition, then the authority counts for nothing there: no third is even looked at.
    healthy "$name" "$code" 'min.recordMismatches>=1' 'max.recordMismatches<=2' 'sum.chunksRejected==0' 'sum.peersBanned==0'
}
