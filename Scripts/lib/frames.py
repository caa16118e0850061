#!/usr/bin/env python3
"""Compares lists of decoded frames (the form of `ffmpeg -f framemd5`) by their size and hash columns.

usage: frames.py equal TRUTH LIST…          every LIST holds exactly the frames of TRUTH, in order
       frames.py at TRUTH LIST SECONDS      the first frame of LIST is the one of TRUTH whose [pts, pts + duration) holds SECONDS
       frames.py samples TRUTH              prints the audio samples (per channel) of a framemd5 list of audio
       frames.py span TRUTH                 prints the first time and the end, in seconds, of a list

Prints `PASS|FAIL <tab> text`; the exit code is 1 when a list differs.
"""

import sys
from fractions import Fraction


def read(name):
    """(time base, [(pts, duration, size, hash)])"""
    base, frames = Fraction(1), []
    with open(name) as file:
        for line in file:
            if line.startswith("#tb"):
                base = Fraction(line.split(":")[1].strip())
            if line.startswith("#") or not line.strip():
                continue
            columns = [column.strip() for column in line.split(",")]
            pts, duration = (int(columns[2]), int(columns[3])) if len(columns) >= 6 else (0, 0)
            frames.append((pts, duration, columns[-2], columns[-1]))
    return base, frames


def pictures(frames):
    return [(size, digest) for _, _, size, digest in frames]


def compare(truth, name):
    """What differs first, or None."""
    try:
        frames = pictures(read(name)[1])
    except OSError as error:
        return f"{name.rsplit('/', 1)[-1]}: {error.strerror}"
    short = name.rsplit("/", 1)[-1]
    for index, (have, want) in enumerate(zip(frames, truth)):
        if have != want:
            return f"{short}: frame {index} differs"
    if len(frames) != len(truth):
        return f"{short}: {len(frames)} frames, not {len(truth)}"
    return None


def main():
    command, truth_name, *rest = sys.argv[1:]
    base, frames = read(truth_name)
    if command == "equal":
        truth = pictures(frames)
        faults = [fault for fault in (compare(truth, name) for name in rest) if fault]
        if not truth:
            faults = ["the truth is empty"]
        if faults:
            print(f"FAIL\t{len(faults)} of {len(rest)} lists differ from ffmpeg's {len(truth)} frames; {faults[0]}")
            sys.exit(1)
        print(f"PASS\t{len(rest)} lists equal ffmpeg's {len(truth)} frames")
    elif command == "at":
        name, seconds = rest[0], Fraction(rest[1])
        expected = [frame for frame in frames if frame[0] * base <= seconds < (frame[0] + frame[1]) * base]
        have = pictures(read(name)[1])[:1]
        if len(expected) == 1 and have == pictures(expected):
            print(f"PASS\t{float(seconds):.3f} s lands on its frame")
        else:
            print(f"FAIL\t{float(seconds):.3f} s lands on another frame than {expected[:1]}")
            sys.exit(1)
    elif command == "samples":
        print(sum(duration for _, duration, _, _ in frames))
    elif command == "span":
        last = frames[-1]
        print(float(frames[0][0] * base), float((last[0] + last[1]) * base))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
