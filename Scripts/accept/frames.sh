# Every decoded frame equals ffmpeg's decode of the joined track; only verified bytes are decoded.
# shellcheck shell=bash

frames_py=$repository/Scripts/lib/frames.py

# join_track OUT FILE…
join_track() {
    local out=$1
    shift
    cat "$@" > "$out"
}

# title_truth: in `truth_video` and `truth_samples`, ffmpeg's decode of the title's first rendition and its audio. WHICH is
# `cmaf` or `ts`.
title_truth() {
    truth_video=$work/truth-$1.video truth_audio=$work/truth-$1.audio
    if [[ $1 == cmaf ]]; then
        join_track "$work/joined.video" "$stream"/cmaf/init-0.mp4 "$stream"/cmaf/segment-0-*.m4s
        join_track "$work/joined.audio" "$stream"/cmaf/init-3.mp4 "$stream"/cmaf/segment-3-*.m4s
    else
        join_track "$work/joined.video" "$stream"/ts/high-*.ts
        ln -sf joined.video "$work/joined.audio"
    fi
    truth "$work/joined.video" v "$truth_video"
    truth "$work/joined.audio" a "$truth_audio"
    truth_samples=$(python3 "$frames_py" samples "$truth_audio")
}

# frame_lists BASE COUNT: in `lists`, the files that `--frame-md5 BASE` gives for so many viewers.
frame_lists() {
    local index
    lists=()
    if (($2 == 1)) && [[ -e $1 ]]; then
        lists=("$1")
        return
    fi
    # The viewers are numbered from 0 or from 1: take what is there, and the number must be right.
    for index in "$1".*; do [[ -e $index ]] && lists+=("$index"); done
    while ((${#lists[@]} < $2)); do lists+=("$1.missing-${#lists[@]}"); done
}

# frames_of NAME WHICH STREAM URL-VARIABLE: three viewers that decode everything.
frames_of() {
    local name=$1 code=0
    serve_title "$length"
    title_truth "$2"
    viewer_options "$3"
    swarm "$name" 3 "${!4}" --stagger 1s --decode --frame-md5 "$work/frames" || code=$?
    judge_code "$name" "$code"
    frame_lists "$work/frames" 3
    judge_frames "$name" "$truth_video" "${lists[@]}"
    judge "$name" 'failed==0' 'sum.bytes.peers>0' "min.audioSamplesDecoded==$truth_samples" "max.audioSamplesDecoded==$truth_samples"
}

check_frames_hls_ts() { frames_of frames-hls-ts ts "$title-ts" hls_ts; }
check_frames_hls_fmp4() { frames_of frames-hls-fmp4 cmaf "$title" hls; }
check_frames_dash() { frames_of frames-dash cmaf "$title" dash; }

# The streams of the corpus beside the checkout that need nothing but what is there, from the CDN alone. NAME MANIFEST VIDEO
# AUDIO, where the tracks are indices into the stream's `tracks` (- for none).
corpus_streams='
hls-ts playlist.m3u8 0 0
cmaf playlist.m3u8 0 1
cmaf manifest.mpd 0 1
byterange-fmp4 master.m3u8 0 1
byterange-fmp4 manifest.mpd 0 1
byterange-ts media.m3u8 0 0
hls-audio-webvtt master.m3u8 0 1
dash-timeline-time Manifest.mpd 0 1
dash-number Manifest_thumbs.mpd 0 2
'

check_frames_corpus() {
    local corpus=$repository/../shared/corpus/streams name manifest video audio label code samples
    if [[ ! -d $corpus ]]; then
        verdict frames-corpus SKIP 'there is no ../shared/corpus beside this checkout'
        return
    fi
    corpus=$(cd "$corpus" && pwd)
    start_cdn "$corpus"
    while read -r name manifest video audio; do
        [[ -n $name ]] || continue
        label=$name/$manifest
        joined_of "$corpus" "$name" "$video" > "$work/corpus.video"
        truth "$work/corpus.video" v "$work/corpus.md5"
        stats=("$work/corpus.json") swarm_log=$work/corpus.log code=0
        rm -f "${stats[0]}" "$work/corpus.frames"
        # As fast as it goes is not playing: it plays in real time, at most a minute of it.
        run "$swarm_log" "$pdn" play --headless "$cdn/$name/$manifest" --pdn off --frame-md5 "$work/corpus.frames" \
            --stats "${stats[0]}" || code=$?
        judge_code "frames-corpus/$label" "$code"
        judge_frames "frames-corpus/$label" "$work/corpus.md5" "$work/corpus.frames"
        samples=$(corpus_samples "$corpus" "$name" "$audio")
        judge "frames-corpus/$label" "sum.audioSamplesDecoded==$samples"
    done <<< "$corpus_streams"
}

# joined_of CORPUS NAME TRACK: the joined bytes of a track of the corpus.
joined_of() {
    python3 - "$@" << 'END'
import json, sys
corpus, name, track = sys.argv[1:]
entry = json.load(open(f"{corpus}/../expected.json"))["streams"][name]["tracks"][int(track)]
for part in entry["joined_from"]:
    sys.stdout.buffer.write(open(f"{corpus}/{name}/{part}", "rb").read())
END
}

corpus_samples() {
    python3 - "$@" << 'END'
import json, sys
corpus, name, track = sys.argv[1:]
print(json.load(open(f"{corpus}/../expected.json"))["streams"][name]["tracks"][int(track)]["audio"]["decoded_samples"])
END
}

# Exact starts at random times, by the tool; seeks within a session, forwards and backwards, by the player's tests.
check_seeks() {
    local count=50 index time output passed=0 failures='' span
    [[ -z $short ]] || count=5
    serve_title "$length"
    title_truth cmaf
    read -r -a span <<< "$(python3 "$frames_py" span "$truth_video")"
    for ((index = 0; index < count; index++)); do
        time=$(python3 -c "import random; print(f'{random.Random($index).uniform(${span[0]}, ${span[1]} - 0.5):.4f}')")
        rm -f "$work/seek.frames"
        run "$work/seek.log" "$pdn" play --headless "$hls" --pdn off --start "$time" --duration 0.2 \
            --frame-md5 "$work/seek.frames" || true
        if output=$(python3 "$frames_py" at "$truth_video" "$work/seek.frames" "$time" 2>&1); then
            passed=$((passed + 1))
        else
            failures=${failures:-": ${output#*$'\t'}"}
        fi
    done
    if ((passed == count)); then
        verdict seeks PASS "$passed of $count exact starts land on their frame"
    else
        verdict seeks FAIL "$passed of $count exact starts land on their frame$failures"
    fi
    swift_tests seeks '(VBPlayerTests|MediaEngineTests)\..*[Ss]eek'
}

# polluters K: K of 10 alter what they upload.
polluters() {
    local name=polluters-$1 code=0
    serve_title "$length"
    title_truth cmaf
    viewer_options
    swarm "$name" 10 "$hls" --stagger 1s --decode --polluters "$1" --frame-md5 "$work/frames" || code=$?
    judge_code "$name" "$code"
    frame_lists "$work/frames" 10
    judge_frames "$name" "$truth_video" "${lists[@]}"
    # One bad chunk each, then the ban: as many bans as bad chunks, and no viewer more than there are polluters.
    judge "$name" 'failed==0' 'stalls==0' 'sum.chunksRejected>0' 'sum.chunksRejected==sum.peersBanned' "max.peersBanned<=$1"
}
check_polluters_1() { polluters 1; }
check_polluters_3() { polluters 3; }
check_polluters_9() { polluters 9; }
