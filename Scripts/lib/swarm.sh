# A signed title on the CDN, a tracker beside it, and swarms of viewers that play it.
# shellcheck shell=bash

title=acceptance

# tools: builds pdn and pdn-tracker, or takes them from PDN_BINARIES, where a caller built them already.
tools() {
    if [[ -n ${PDN_BINARIES:-} ]]; then
        binaries=$PDN_BINARIES
    else
        say 'release build'
        build pdn pdn-tracker
    fi
    pdn=$binaries/pdn
}

# prepare_title SECONDS: makes the stream and an authority, copies the stream (as links) to where the CDN will serve it.
# Sets `www`, `authority` (public key) and `authority_key` (file).
prepare_title() {
    make_stream "$1"
    www=$work/www
    mkdir -p "$www"
    cp -as "$stream/cmaf" "$stream/ts" "$www/"
    authority_key=$work/authority.key
    authority=$("$pdn" keygen --role authority --out "$authority_key")
}

# replace_file NAME: makes a file under `www` a copy of its own, so that it can be changed.
replace_file() {
    cp --remove-destination "$(readlink -f "$www/$1")" "$www/$1"
    chmod u+w "$www/$1"
}

# name_urls: the manifests' URLs, once the CDN runs.
name_urls() {
    hls=$cdn/cmaf/master.m3u8
    dash=$cdn/cmaf/manifest.mpd
    hls_ts=$cdn/ts/master.m3u8
}

# sign_title: signs the title as it is on the CDN: one catalogue for HLS and DASH of the same segments, one for HLS TS.
sign_title() {
    local out=$work/sign.log
    run "$out" "${within[@]}" "$pdn" sign "$hls" "$dash" --key "$authority_key" --stream "$title" --out "$www/cmaf/title.pdn" \
        && run "$out" "${within[@]}" "$pdn" sign "$hls_ts" --key "$authority_key" --stream "$title-ts" --out "$www/ts/title.pdn" || {
        tail -n 20 "$out" >&2
        die 1 'pdn sign failed'
    }
    # Where players look when no catalogue is named: beside the manifest.
    ln -sf title.pdn "$www/cmaf/master.m3u8.pdn"
    ln -sf title.pdn "$www/cmaf/manifest.mpd.pdn"
    ln -sf title.pdn "$www/ts/master.m3u8.pdn"
}

# serve_title SECONDS: all of it, to a CDN and a tracker that are ready.
serve_title() {
    prepare_title "$1"
    start_cdn "$www"
    name_urls
    sign_title
    start_tracker
}

# viewer_options [STREAM]: in `viewer`, what every viewer with the PDN on gets.
viewer_options() {
    viewer=(--pdn on --tracker "$tracker" --tracker-key "$tracker_key" --trust "$authority" --stream "${1:-$title}")
}

# swarm LABEL VIEWERS OPTION-OR-URL…: runs `pdn swarm`; the figures are in `stats`, the output in `swarm_log`, and where its
# requests begin in the CDN's log in `log_start`. Its exit code is the tool's.
swarm() {
    local code=0
    swarm_start "$@"
    swarm_wait || code=$?
    return "$code"
}

# swarm_start and swarm_wait: the two halves of `swarm`, for what happens in between.
swarm_start() {
    local label=$1 viewers=$2
    shift 2
    stats=("$work/$label.json")
    swarm_log=$work/$label.log
    log_start=$(stat -c %s "$cdn_log")
    start "$swarm_log" "$pdn" swarm "$@" --viewers "$viewers" "${viewer[@]}" --stats "${stats[0]}"
    swarm_pid=$started
}
swarm_wait() {
    finish_within "$((4 * ${length:-60} + 120))" "$swarm_pid"
}

# finish_within SECONDS PID: waits for a child and gives its exit code; one that still runs after the time is ended, and the
# code is 124.
finish_within() {
    local code=0
    if await "$1" not_alive "$2"; then
        wait "$2" || code=$?
        forget "$2"
        return "$code"
    fi
    note "still running after $1 s: $(tr '\0' ' ' < "/proc/$2/cmdline" | cut -c 1-60)…"
    end "$2"
    return 124
}

# play_start LABEL URL OPTION…: a viewer of its own process; its figures are added to `stats`, its process ID is `started`.
play_start() {
    local label=$1
    shift
    stats+=("$work/$label.json")
    swarm_log=$work/$label.log
    start "$swarm_log" "$pdn" play --headless "$@" --stats "$work/$label.json"
}

# played SEGMENT: whether the CDN has been asked for the segment of that number of the first rendition since the swarm began.
played() { tail -c "+$((log_start + 1))" "$cdn_log" | grep -qE "(segment-0-|high-)0*$1\.(m4s|ts)"; }

# settle_cdn_log: waits until nginx has written what it sent.
settle_cdn_log() {
    local mark=mark-$RANDOM$RANDOM
    "${within[@]}" curl --silent --noproxy '*' --output /dev/null "$cdn/$mark" || true
    await 5 grep -q "$mark" "$cdn_log" || true
}

# tracker_has COUNT: whether at least so many viewers are with the tracker.
tracker_has() {
    local count
    count=$(curl --silent --noproxy '*' "$tracker_http/stats" | python3 -c 'import json, sys; print(json.load(sys.stdin)["viewers"])') \
        && ((count >= $1))
}
