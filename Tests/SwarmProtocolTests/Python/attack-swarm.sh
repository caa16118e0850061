#!/usr/bin/env bash
# A real swarm (nginx, pdn-tracker, pdn swarm) with one attacker of the second implementation in it, for each mode named:
# playback must end normally, without a stall, and every victim of a lie must ban the liar at its first bad chunk.
#
# usage: attack-swarm.sh [MODE…]   (default: flipped-bit wrong-leaves wrong-length other-segment never-deliver drip)
# PDN_BINARIES names a folder with pdn and pdn-tracker; without it they are built.
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
source "$repository/Scripts/lib/common.sh"
for part in stream cdn tracker swarm; do source "$repository/Scripts/lib/$part.sh"; done

modes=("$@")
((${#modes[@]})) || modes=(flipped-bit wrong-leaves wrong-length other-segment never-deliver drip)
tools
serve_title 12
viewer_options
bad=0
for mode in "${modes[@]}"; do
    swarm_start "attack-$mode" 4 --stagger 4s "$hls"
    sleep 1
    start "$work/$mode.log" "$repository/Tests/SwarmProtocolTests/Python/run.sh" attacker.py "$mode" --tracker "$tracker" \
        --catalogue "$www/cmaf/title.pdn" --authority "$authority" --duration 30 --report "$work/$mode.json"
    attacker=$started
    code=0
    swarm_wait || code=$?
    end "$attacker" 5
    cat "$work/$mode.log" >&2
    python3 - "$mode" "$code" "${stats[0]}" "$work/$mode.json" << 'PYTHON' || bad=1
import json, sys
mode, code, stats, report = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3])), open(sys.argv[4]).read()
viewers = stats["viewers"]
print(json.dumps({
    "mode": mode, "exit": code, "stalls": stats["total"]["stalls"],
    "peersBanned": [v["peersBanned"] for v in viewers], "chunksRejected": [v["chunksRejected"] for v in viewers],
    "offload": stats["total"]["offload"], "attacker": json.loads(report) if report.strip() else None,
}))
lies = mode in ("flipped-bit", "wrong-leaves", "wrong-length", "short-leaves", "other-segment")
held = code == 0 and stats["total"]["stalls"] == 0 and all(v["peersBanned"] <= 1 for v in viewers)
if lies:
    held = held and all(v["chunksRejected"] <= 1 for v in viewers) and any(v["peersBanned"] for v in viewers)
sys.exit(0 if held else 1)
PYTHON
done
exit "$bad"
