# Live: ffmpeg encodes in real time into the folder that nginx serves, a viewer decodes, and its latency is read every five
# seconds.
# shellcheck shell=bash

# start_encoder KIND DIRECTORY: an encoder of two-second segments; its process ID is in `encoder`. KIND is hls, or dash (with
# a SegmentTimeline), or dash-numbers.
start_encoder() {
    local -a muxer=(-f hls -hls_time 2 -hls_list_size 20 -hls_flags delete_segments+program_date_time+temp_file "$2/raw.m3u8")
    case $1 in
        dash) muxer=(-f dash -seg_duration 2 -window_size 20 -extra_window_size 10 -use_timeline 1 -use_template 1 "$2/live.mpd") ;;
        dash-numbers) muxer=(-f dash -seg_duration 2 -window_size 20 -extra_window_size 10 -use_timeline 0 -use_template 1 "$2/live.mpd") ;;
    esac
    start "$work/encoder.log" ffmpeg -hide_banner -nostdin -loglevel error -y -re -f lavfi -i 'testsrc2=size=320x180:rate=25' \
        -re -f lavfi -i 'sine=frequency=440:sample_rate=48000' -c:v libx264 -preset ultrafast -tune zerolatency -g 50 \
        -keyint_min 50 -sc_threshold 0 -pix_fmt yuv420p -c:a aac "${muxer[@]}"
    encoder=$started
}

# publish DIRECTORY: hands the encoder's playlist on, unless the file `hold` is there: a cache that doesn't look.
publish() {
    local directory=$1
    while sleep 0.1; do
        [[ ! -e $directory/hold && -e $directory/raw.m3u8 ]] || continue
        cp "$directory/raw.m3u8" "$directory/next" 2> /dev/null && mv "$directory/next" "$directory/live.m3u8"
    done
}

# enough_segments DIRECTORY COUNT
enough_segments() {
    [[ -e $1/live.mpd || -e $1/live.m3u8 ]] || return 1
    (($(find "$1" -name '*.ts' -o -name 'chunk-stream0*.m4s' | wc -l) >= $2))
}

# live NAME KIND SECONDS LATENCY EVENT [STALLS]: plays for so long; a third of the way in the event comes: `none`, `stale` (the
# playlist does not change for 20 s) or `restart` (the encoder is killed and begins again under the same names).
live() {
    local name=$1 kind=$2 seconds=$3 latency=$4 event=$5 stalls=${6:-0} directory=$work/live-$1 address publisher='' code=0
    mkdir -p "$directory"
    start_encoder "$kind" "$directory"
    if [[ $kind == hls ]]; then
        start "$work/publisher.log" publish "$directory"
        publisher=$started
    fi
    start_cdn "$directory"
    address=$cdn/live.mpd
    [[ $kind == hls ]] && address=$cdn/live.m3u8
    await 120 enough_segments "$directory" "$((latency / 2 + 3))" || die 4 "the encoder makes nothing: $(tail -n 3 "$work/encoder.log")"
    stats=("$work/$name.json") swarm_log=$work/$name.log
    start "$swarm_log" "$pdn" play --headless "$address" --latency "${latency}s" --duration "${seconds}s" --log player=debug --log delivery=debug \
        --stats "${stats[0]}"
    local viewer_pid=$started
    sleep "$((seconds / 3))"
    case $event in
        stale) touch "$directory/hold" && sleep 20 && rm "$directory/hold" ;;
        restart)
            end "$encoder" 5 KILL
            rm -f "$directory"/*.ts "$directory"/*.m4s "$directory"/raw.m3u8 "$directory"/live.*
            start_encoder "$kind" "$directory"
            ;;
    esac
    wait "$viewer_pid" || code=$?
    forget "$viewer_pid"
    judge_code "$name" "$code"
    judge "$name" "max.stalls<=$stalls" 'failed==0'
    verdicts "$name" python3 "$repository/Scripts/lib/latency.py" "$swarm_log" "$event"
    end "$encoder"
    [[ -z $publisher ]] || end "$publisher"
    stop_cdn
}

check_live_hls() { live live-hls hls "$(live_length)" 6 none; }
check_live_dash() { live live-dash dash "$(live_length)" 6 none; }
check_live_dash_numbers() { live live-dash-numbers dash-numbers "$(live_length 180)" 6 none; }
check_live_stale() { live live-stale hls "$(live_length 180)" 26 stale; }
check_live_restart() {
    live live-restart-hls hls "$(live_length 180)" 12 restart
    # What was not encoded can't be played: the clock of DASH goes on meanwhile.
    live live-restart-dash dash "$(live_length 180)" 12 restart 1
}

# live_length [SECONDS]: ten minutes, or that.
live_length() { if [[ -n $short ]]; then echo 60; else echo "${1:-600}"; fi; }
