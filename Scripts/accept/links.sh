# Offload on real links: separate processes, 5 Mbps up and 20 Mbps down each.
# shellcheck shell=bash

check_links() {
    local viewers=10 stagger
    if ! can_make_namespaces; then
        verdict links SKIP "$no_namespaces"
        return
    fi
    serve_network "$viewers" 5mbit 20mbit
    if [[ -n $short ]]; then
        links_round links-1 "$viewers" 1
        return
    fi
    for stagger in 0 10; do links_round "links-$stagger" "$viewers" "$stagger"; done
}

# links_round NAME VIEWERS STAGGER-SECONDS
links_round() {
    local name=$1 viewers=$2 index pid code failed=0 counted received before minimum=0.80
    [[ -z $short ]] || minimum=$short_minimum
    local -a pids=()
    before=$(peer_payload "$viewers")
    stats=()
    log_start=$(stat -c %s "$cdn_log")
    for ((index = 1; index <= viewers; index++)); do
        ((index == 1 || $3 == 0)) || sleep "$3"
        stats+=("$work/$name-$index.json")
        start "$work/$name-$index.log" ip netns exec "$(net_viewer "$index")" "$pdn" play --headless "$hls" "${viewer[@]}" \
            --stats "$work/$name-$index.json"
        pids+=("$started")
    done
    for pid in "${pids[@]}"; do
        code=0
        finish_within "$((4 * length + 120))" "$pid" || code=$?
        ((code == 0)) || failed=$((failed + 1))
    done
    swarm_log=$work/$name-1.log
    ((failed == 0)) || verdict "$name" FAIL "$failed of $viewers processes failed: $(tail -qn 1 "$work/$name"-*.log | sort | uniq -c | head -n 3 | tr '\n' ' ')"
    judge "$name" "viewers==$viewers" 'failed==0' "offload>=$minimum" 'stalls==0'
    judge_log "$name"
    counted=$(($(peer_payload "$viewers") - before))
    received=$(python3 "$repository/Scripts/lib/stats.py" get "${stats[@]}" -- sum.bytes.peers)
    verdicts "$name" python3 -c '
import sys
counted, received = int(sys.argv[1]), float(sys.argv[2])
apart = abs(counted - received) / counted if counted else 1
outcome = "PASS" if apart <= 0.05 else "FAIL"
print(f"{outcome}\tkernel counted {counted:,} bytes from peers, viewers {received:,.0f}: {apart:.2%} apart (must be ≤ 5%)")' \
        "$counted" "$received"
}
