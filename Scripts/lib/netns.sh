# Real links: a network namespace per viewer with a token bucket each way, a bridge between them, the CDN and the tracker in
# a namespace of their own without limits.
# shellcheck shell=bash

net_prefix=10.77

# can_make_namespaces: whether this machine lets us; the reason why not is in `no_namespaces`.
can_make_namespaces() {
    local probe=pdn-probe-$$
    no_namespaces=''
    if ((EUID != 0)); then
        no_namespaces='network namespaces need root'
    elif ! has ip || ! has tc || ! has nft; then
        no_namespaces='iproute2 or nftables is missing'
    elif ! ip netns add "$probe" 2> "$work/probe"; then
        no_namespaces="no network namespaces here: $(tail -n 1 "$work/probe")"
    else
        if ! { ip -n "$probe" link add probe0 type veth peer name probe1 && tc -n "$probe" qdisc add dev probe0 root tbf rate 5mbit burst 16kb latency 100ms; } \
            2> "$work/probe"; then
            no_namespaces="no veth or tbf here: $(tail -n 1 "$work/probe")"
        elif ! ip netns exec "$probe" nft 'add table inet probe' 2> "$work/probe"; then
            no_namespaces="no nftables here: $(tail -n 1 "$work/probe")"
        fi
        ip netns del "$probe"
    fi
    [[ -z $no_namespaces ]]
}

# make_network VIEWERS UP DOWN: rates as tc takes them. Sets `net_cdn` (its namespace), `cdn_address`, and viewer i (from 1) is in
# namespace `net_viewer i` at address `viewer_address i`. Everything goes away at the end of the script.
make_network() {
    local index space
    net_id=pdn-$$
    net_bridge=$net_id-bridge
    net_cdn=$net_id-cdn
    cdn_address=$net_prefix.0.1
    net_size=$1
    at_end+=('remove_network')
    ip netns add "$net_bridge"
    ip -n "$net_bridge" link add bridge type bridge
    ip -n "$net_bridge" link set bridge up
    plug "$net_cdn" cdn "$cdn_address"
    for ((index = 1; index <= net_size; index++)); do
        space=$(net_viewer "$index")
        plug "$space" "viewer$index" "$(viewer_address "$index")"
        # A burst of two full packets of the interface or 10 ms, whichever is more; the queue is that of a home router.
        tc -n "$space" qdisc add dev eth0 root tbf rate "$2" burst 16kb latency 200ms
        tc -n "$net_bridge" qdisc add dev "viewer$index" root tbf rate "$3" burst 32kb latency 200ms
        count_peers "$space"
    done
}

net_viewer() { printf '%s-v%s' "$net_id" "$1"; }
viewer_address() { printf '%s.1.%s' "$net_prefix" "$1"; }

# plug NAMESPACE PORT ADDRESS: a new namespace, joined to the bridge.
plug() {
    ip netns add "$1"
    ip -n "$1" link set lo up
    ip -n "$net_bridge" link add "$2" type veth peer name eth0 netns "$1"
    ip -n "$net_bridge" link set "$2" master bridge up
    ip -n "$1" addr add "$3/16" dev eth0
    ip -n "$1" link set eth0 up
}

# count_peers NAMESPACE: counters of what comes in over TCP from anybody but the CDN and the tracker.
count_peers() {
    ip netns exec "$1" nft -f - << END
table inet pdn {
    counter peers { }
    chain incoming {
        type filter hook input priority 0; policy accept;
        iifname "eth0" ip saddr != $cdn_address meta l4proto tcp counter name peers
    }
}
END
}

# peer_payload VIEWERS: the TCP payload that the kernel counted from peers, over all viewers: bytes of the packets less their
# headers (IPv4 20, TCP 32 with time stamps).
peer_payload() {
    local index
    for ((index = 1; index <= $1; index++)); do
        ip netns exec "$(net_viewer "$index")" nft -j list counter inet pdn peers
    done | python3 -c '
import json, sys
total = 0
for line in sys.stdin:
    for item in json.loads(line)["nftables"]:
        if "counter" in item:
            total += item["counter"]["bytes"] - 52 * item["counter"]["packets"]
print(total)'
}

remove_network() {
    local index
    for ((index = 1; index <= net_size; index++)); do ip netns del "$(net_viewer "$index")" 2> /dev/null; done
    ip netns del "$net_cdn" 2> /dev/null
    ip netns del "$net_bridge" 2> /dev/null
}

# serve_network VIEWERS UP DOWN [CDN-MBPS]: a network with the CDN, the signed title and the tracker in it, and the options of
# a viewer. UP and DOWN as tc takes them; without CDN-MBPS the CDN has no limit.
serve_network() {
    make_network "$1" "$2" "$3"
    [[ -z ${4:-} ]] || limit_cdn "$4"
    within=(ip netns exec "$net_cdn")
    prepare_title "$length"
    start_cdn "$www" "$cdn_address"
    name_urls
    sign_title
    TRACKER_ADDRESS=$cdn_address:8090 start_tracker
    viewer_options
}

# limit_cdn MBPS: what the CDN sends in all, shared fairly among the viewers, as the fair queues do that servers have: in one
# queue for all, whose packets are dropped first would be chance.
limit_cdn() {
    local index class='tc -n '$net_cdn' class add dev eth0'
    tc -n "$net_cdn" qdisc add dev eth0 root handle 1: htb default 1
    $class parent 1: classid 1:ffff htb rate "$1mbit" burst 32kb
    for ((index = 1; index <= net_size; index++)); do
        $class parent 1:ffff classid "1:$index" htb rate "$(($1 * 1000 / net_size))kbit" ceil "$1mbit" burst 16kb
        tc -n "$net_cdn" qdisc add dev eth0 parent "1:$index" pfifo limit 64
        tc -n "$net_cdn" filter add dev eth0 parent 1: protocol ip u32 match ip dst "$(viewer_address "$index")/32" \
            flowid "1:$index"
    done
}
