# A link whose uplink is full.
# shellcheck shell=bash

# bench_control_latency: two namespaces, the uploader's uplink 2 Mbps; pings go both ways through the data.
bench_control_latency() {
    if ! can_make_namespaces; then
        warn "control-latency: $no_namespaces"
        return
    fi
    make_network 2 2mbit 20mbit
    start "$work/serve.log" ip netns exec "$(net_viewer 1)" "$binaries/pdn-bench" latency-serve "$(viewer_address 1):9000"
    local server=$started
    ip netns exec "$(net_viewer 2)" "$binaries/pdn-bench" latency-fetch "$(viewer_address 1):9000"
    end "$server"
}
