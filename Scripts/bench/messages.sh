# What the peer protocol costs in messages.
# shellcheck shell=bash

# bench_messages: as many viewers as one may have links to, and itself; every frame but chunks that a viewer sends, for each
# second of stream that it played.
bench_messages() {
    serve_title 60
    viewer_options
    swarm messages 26 "$hls" --stagger 500ms || die 1 "the swarm failed: $(tail -n 3 "$swarm_log")"
    python3 - "${stats[0]}" << 'END'
import json, sys
viewers = json.load(open(sys.argv[1]))["viewers"]
def line(name, value, unit):
    print(json.dumps({"name": name, "value": round(value, 2), "unit": unit, "limit": None, "ratio": None}))
rates = sorted(viewer["messages"]["sent"] / viewer["playedSeconds"] for viewer in viewers)
line("messages", sum(rates) / len(rates), "messages per viewer and second of stream")
line("messages-most", rates[-1], "messages per second of stream, of the viewer that sent most")
line("messages-links", sum(viewer["peersConnected"] for viewer in viewers) / len(viewers), "links per viewer")
END
}
