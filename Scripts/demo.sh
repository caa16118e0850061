#!/usr/bin/env bash
# A swarm of viewers plays a stream, mostly from each other: set-up, release build, a test stream made on the spot, nginx as
# the CDN, pdn-tracker, the swarm, and a table of what came from where. Ends by itself; nothing is left running.
#
# usage: Scripts/demo.sh [VIEWERS] [SECONDS]   (default: 10 viewers, a stream of 30 s)
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
case ${1:-} in
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
esac
viewers=${1:-10}
seconds=${2:-30}
[[ $viewers =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ ]] || die 2 'usage: Scripts/demo.sh [VIEWERS] [SECONDS]'
for part in stream cdn tracker swarm; do source "$repository/Scripts/lib/$part.sh"; done

say 'system packages'
"$repository/Scripts/setup.sh" --tests
tools
serve_title "$seconds"
note "CDN $cdn, tracker $tracker"
viewer_options
say "$viewers viewers, one joining each second, play $seconds s of 2.5 Mbps video; half open the HLS, half the DASH manifest"
if ! swarm demo "$viewers" "$hls" "$dash" --stagger 1s; then
    tail -n 20 "$swarm_log" >&2
    die 1 'the swarm failed'
fi
settle_cdn_log
printf '\n'
python3 "$repository/Scripts/lib/stats.py" table "${stats[@]}"
python3 "$repository/Scripts/lib/stats.py" log "${stats[@]}" --log "$cdn_log" --from "$log_start" | cut -f 2 | sed 's/ (must be.*//' || true
