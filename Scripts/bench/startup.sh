# Time from a player's init to its first picture.
# shellcheck shell=bash

# bench_startup: peers off and on, HLS and DASH of the same segments, one viewer with a CDN and a tracker on loopback.
bench_startup() {
    serve_title 12
    local settings=("tracker=$tracker" "tracker-key=$tracker_key" "trust=$authority" "stream=$title")
    "$binaries/pdn-bench" startup "$hls" '' "${settings[@]}"
    "$binaries/pdn-bench" startup "$dash" -dash "${settings[@]}"
}
