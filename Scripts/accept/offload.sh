# Offload in one process on loopback.
# shellcheck shell=bash

# A short stream is mostly start-up, so the limits don't apply to it; this much shows that viewers share.
short_minimum=0.5

# offload NAME VIEWERS STAGGER MINIMUM COPIES URL…: COPIES is the limit of copiesPerSegment, or - for none.
offload() {
    local name=$1 viewers=$2 stagger=$3 minimum=$4 copies=$5 code=0 criteria
    shift 5
    [[ -z $short ]] || minimum=$short_minimum copies=-
    serve_title "$length"
    viewer_options
    local urls=()
    for url in "$@"; do urls+=("${!url}"); done
    swarm "$name" "$viewers" "${urls[@]}" --stagger "$stagger" || code=$?
    judge_code "$name" "$code"
    criteria=("viewers==$viewers" 'failed==0' "offload>=$minimum" 'stalls==0')
    [[ $copies == - ]] || criteria+=("copiesPerSegment<=$copies")
    judge "$name" "${criteria[@]}"
    judge_log "$name"
}

check_offload_hls() { offload offload-hls 10 1s 0.85 1.4 hls; }
check_offload_dash() { offload offload-dash 10 1s 0.85 1.4 dash; }
check_offload_stagger0() {
    offload offload-stagger0 10 0s 0.80 - hls
}
check_offload_30() { offload offload-30 30 1s 0.92 - hls; }
# HLS and DASH viewers of the same segments, half and half: the same figures over both together.
check_offload_mixed() { offload offload-mixed 10 1s 0.85 1.4 hls dash; }

# The CDN's log, with few and with no peers about.
check_nginx_agrees() {
    local code=0
    serve_title "$length"
    viewer_options
    swarm alone 1 "$hls" || code=$?
    judge_code nginx-agrees "$code"
    judge_log nginx-agrees
    code=0
    swarm pair 4 "$hls" "$dash" --stagger 2s || code=$?
    judge_code nginx-agrees "$code"
    judge_log nginx-agrees
}

# 3 of 10 never upload.
check_freeriders() {
    local code=0 minimum=0.80
    [[ -z $short ]] || minimum=$short_minimum
    serve_title "$length"
    viewer_options
    swarm freeriders 10 "$hls" --stagger 1s --freeriders 3 || code=$?
    judge_code freeriders "$code"
    judge freeriders 'failed==0' "offload>=$minimum" 'stalls==0'
}
