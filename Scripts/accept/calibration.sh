# Simulated viewers must do what real ones do on the same links: set-ups whose offload is neither near 0 nor saturated.
# shellcheck shell=bash

# Viewers whose uplinks carry less than the stream.
check_calibration_scarce() { calibrate calibration-scarce 16 2 12 none 1 0; }
# A CDN that could serve four of them, who all come at once.
check_calibration_slow_cdn() { calibrate calibration-slow-cdn 12 3 10 10 0 0; }
# Every fifth leaves after a third of the title.
check_calibration_leaving() { calibrate calibration-leaving 20 3 12 none 1 4; }

# calibrate NAME VIEWERS UP DOWN CDN STAGGER EARLY: rates in Mbps; EARLY of the viewers leave after a third of the title.
calibrate() {
    local name=$1 viewers=$2 up=$3 down=$4 cdn_rate=$5 stagger=$6 early=$7 index pid code failed=0 stay seed cdn_limit=''
    if ! can_make_namespaces; then
        verdict "$name" SKIP "$no_namespaces"
        return
    fi
    [[ $cdn_rate == none ]] || cdn_limit=$cdn_rate
    serve_network "$viewers" "${up}mbit" "${down}mbit" "$cdn_limit"
    local -a pids=() stats=() population=() simulations=()
    for ((index = 0; index < viewers; index++)); do
        ((index == 0 || stagger == 0)) || sleep "$stagger"
        stay=$length
        ((early == 0 || index % (viewers / early) != 1)) || stay=$((length / 3))
        population+=("$((index * stagger)):$stay")
        stats+=("$work/$name-$index.json")
        # Viewers that count time as a player does and decode nothing: many fit on a small machine.
        start "$work/$name-$index.log" ip netns exec "$(net_viewer $((index + 1)))" "$pdn" swarm --viewers 1 "$hls" \
            "${viewer[@]}" --duration "$stay" --stats "$work/$name-$index.json"
        pids+=("$started")
    done
    for pid in "${pids[@]}"; do
        code=0
        finish_within "$((4 * length + 120))" "$pid" || code=$?
        ((code == 0)) || failed=$((failed + 1))
    done
    ((failed == 0)) || verdict "$name" FAIL "$failed of $viewers processes failed: $(tail -qn 1 "$work/$name"-*.log | sort | uniq -c | head -n 3 | tr '\n' ' ')"
    local rate=none
    [[ $cdn_rate == none ]] || rate=${cdn_rate}Mbps
    python3 "$repository/Scripts/lib/calibration.py" scenario "$work" "$name" "${up}Mbps" "${down}Mbps" "$rate" "$length" "${population[@]}"
    for seed in 1 2 3 4 5; do
        if ! "$pdn" simulate "$work/$name.json" --seed "$seed" --json > "$work/$name-seed-$seed.json" 2> "$work/$name-seed.log"; then
            verdict "$name" FAIL "pdn simulate: $(tail -n 1 "$work/$name-seed.log")"
            return
        fi
        simulations+=("$work/$name-seed-$seed.json")
    done
    verdicts "$name" python3 "$repository/Scripts/lib/calibration.py" compare "${stats[@]}" -- "${simulations[@]}"
}
