# What decisions cost.
# shellcheck shell=bash

# bench_scheduler: the decision logs of a swarm through the scheduler again; then those of one
# whose uplinks are hardly faster than the stream, where much is open at a time.
bench_scheduler() {
    serve_title 60
    viewer_options
    swarm scheduler 30 "$dash" --stagger 300ms --decisions "$work/scheduler.log" \
        || die 1 "the swarm failed: $(tail -n 3 "$swarm_log")"
    "$binaries/pdn-bench" scheduler "$work"/scheduler.log.*
    swarm scarce 12 "$dash" --stagger 1s --uplink 3500kbps --decisions "$work/scarce.log" \
        || die 1 "the swarm failed: $(tail -n 3 "$swarm_log")"
    "$binaries/pdn-bench" scheduler "$work"/scarce.log.* | sed 's/"scheduler/"scheduler-scarce/'
}
