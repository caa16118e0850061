# Makes the test streams: one encode, packaged as CMAF (one set of files under an HLS and a DASH manifest) and as HLS with
# MPEG-TS segments.
# shellcheck shell=bash

# Three renditions, the first about 2.5 Mbps with its audio. testsrc2 shows the time and the frame number in every picture;
# the noise on it is what makes the encoder spend its bits, as real pictures do. Small pictures, because a test decodes ten
# viewers' worth of them on two cores.
stream_version=1
segment_seconds=2
frame_rate=30

# make_stream SECONDS: makes the stream of that length unless it is in the cache. Sets:
#   stream  its directory: cmaf/manifest.mpd, cmaf/master.m3u8 (the same segments), ts/master.m3u8
make_stream() {
    local seconds=$1
    stream=$cache/stream-v$stream_version-${seconds}s
    [[ -e $stream/complete ]] && return 0
    mkdir -p "$cache"
    local lock
    exec {lock}> "$cache/lock"
    flock "$lock"
    if [[ ! -e $stream/complete ]]; then
        say "making a test stream of $seconds s (ffmpeg)"
        rm -rf "$stream" "$stream.part"
        mkdir -p "$stream.part/cmaf" "$stream.part/ts"
        encode_renditions "$seconds" "$stream.part/renditions.mp4"
        package_cmaf "$stream.part/renditions.mp4" "$stream.part/cmaf"
        package_ts "$stream.part/renditions.mp4" "$stream.part/ts"
        rm "$stream.part/renditions.mp4"
        touch "$stream.part/complete"
        mv "$stream.part" "$stream"
    fi
    exec {lock}>&-
}

quiet_ffmpeg() {
    run "$work/ffmpeg.log" ffmpeg -hide_banner -nostdin -loglevel warning -y "$@" || {
        tail -n 20 "$work/ffmpeg.log" >&2
        die 1 "ffmpeg could not make the test stream"
    }
}

# encode_renditions SECONDS FILE: three video tracks with key frames at the same instants, one audio track. The encoder's
# priming packet is dropped, so that both tracks start at 0 without an edit.
encode_renditions() {
    local gop=$((segment_seconds * frame_rate)) pattern
    pattern="testsrc2=size=640x360:rate=$frame_rate,noise=alls=24:allf=t:all_seed=7,format=yuv420p"
    quiet_ffmpeg \
        -f lavfi -i "$pattern" -f lavfi -i "sine=frequency=440:beep_factor=4:sample_rate=48000" -t "$1" \
        -filter_complex "[0:v]split=3[a][b][c];[b]scale=480:270[b1];[c]scale=320:180[c1]" \
        -map '[a]' -map '[b1]' -map '[c1]' -map 1:a \
        -c:v libx264 -preset veryfast -profile:v main -bf 2 -g $gop -keyint_min $gop -sc_threshold 0 \
        -b:v:0 2400k -maxrate:v:0 2600k -bufsize:v:0 2400k \
        -b:v:1 1000k -maxrate:v:1 1100k -bufsize:v:1 1000k \
        -b:v:2 400k -maxrate:v:2 440k -bufsize:v:2 400k \
        -video_track_timescale 90000 -c:a aac -b:a 96k -ac 2 -bsf:a 'noise=drop=eq(n\,0)' -f mp4 "$2"
}

# package_cmaf FILE DIRECTORY: one file per segment, listed by manifest.mpd and by master.m3u8.
package_cmaf() {
    quiet_ffmpeg -i "$1" -map 0 -c copy -f dash -seg_duration $segment_seconds -hls_playlist 1 \
        -use_template 1 -use_timeline 1 -adaptation_sets 'id=0,streams=v id=1,streams=a' \
        -init_seg_name 'init-$RepresentationID$.mp4' -media_seg_name 'segment-$RepresentationID$-$Number%05d$.m4s' \
        "$2/manifest.mpd"
}

# package_ts FILE DIRECTORY: video and audio in one MPEG-TS file per segment.
package_ts() {
    quiet_ffmpeg -i "$1" -map 0:v:0 -map 0:a -map 0:v:1 -map 0:a -map 0:v:2 -map 0:a -c copy \
        -f hls -hls_time $segment_seconds -hls_playlist_type vod -hls_segment_type mpegts \
        -hls_segment_filename "$2/%v-%05d.ts" -master_pl_name master.m3u8 \
        -var_stream_map 'v:0,a:0,name:high v:1,a:1,name:middle v:2,a:2,name:low' "$2/%v.m3u8"
}

# truth TRACK-FILE STREAM LIST: ffmpeg's decode of a joined track (`v` or `a`), one line per frame, into LIST.
truth() {
    quiet_ffmpeg -i "$1" -map "0:$2:0" -fps_mode passthrough -f framemd5 "$3"
}
