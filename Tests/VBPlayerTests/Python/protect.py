"""Encrypts media as packagers do, with nothing but Python: what tests of decryption play.

usage: protect.py SCHEME KEY-ID KEY VECTOR INPUT OUTPUT
SCHEME: cenc, cens, cbc1, cbcs (fragmented MP4; ISO/IEC 23001-7), or h264, aac, ac3 (SAMPLE-AES of an elementary stream).
Key identifier, key and vector are hexadecimal. A scheme may end in "+saio" (vectors that saiz and saio lead to, and no
senc), or "+seig" (the second fragment on: sample groups with a key identifier that is KEY-ID with its last bit turned).
"""

import sys


# AES-128 (FIPS 197), encryption only.
def _sbox():
    p = q = 1
    box = [0] * 256
    box[0] = 0x63
    while True:
        p = (p ^ (p << 1) ^ (0x1B if p & 0x80 else 0)) & 0xFF
        q ^= q << 1
        q ^= q << 2
        q ^= q << 4
        q &= 0xFF
        if q & 0x80:
            q ^= 0x09
        x = q
        for _ in range(4):
            q = (q << 1 | q >> 7) & 0xFF
            x ^= q
        q = _undo(q)
        box[p] = x ^ 0x63
        if p == 1:
            return box


def _undo(q):
    for _ in range(4):
        q = (q >> 1 | q << 7) & 0xFF
    return q


S = _sbox()
X = [(a << 1 ^ (0x1B if a & 0x80 else 0)) & 0xFF for a in range(256)]


def expand(key):
    words = [list(key[i : i + 4]) for i in range(0, 16, 4)]
    r = 1
    for i in range(4, 44):
        w = list(words[i - 1])
        if i % 4 == 0:
            w = [S[w[1]] ^ r, S[w[2]], S[w[3]], S[w[0]]]
            r = X[r]
        words.append([a ^ b for a, b in zip(words[i - 4], w)])
    return [sum(words[i : i + 4], []) for i in range(0, 44, 4)]


def block(keys, data):
    s = [a ^ b for a, b in zip(data, keys[0])]
    for turn in range(1, 11):
        s = [S[s[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if turn < 10:
            for c in range(0, 16, 4):
                a, b, d, e = s[c : c + 4]
                t = a ^ b ^ d ^ e
                s[c : c + 4] = [a ^ t ^ X[a ^ b], b ^ t ^ X[b ^ d], d ^ t ^ X[d ^ e], e ^ t ^ X[e ^ a]]
        s = [a ^ b for a, b in zip(s, keys[turn])]
    return bytes(s)


class Cipher:
    """Encrypts the protected ranges of samples."""

    def __init__(self, scheme, key):
        self.scheme, self.keys = scheme, expand(key)

    def sample(self, data, ranges, vector, pattern):
        data = bytearray(data)
        chain, counter, used = vector, 0, b""
        for start, end in ranges:
            if self.scheme == "cbcs":
                chain = vector
            at = start
            while at < end:
                size = (pattern[0] or 1) * 16
                stop = min(end, at + size) if pattern[1] else end
                if self.scheme != "cenc":
                    stop = at + (stop - at) // 16 * 16
                if stop == at:
                    break
                if self.scheme in ("cenc", "cens"):
                    for i in range(at, stop):
                        if not used:
                            low = (int.from_bytes(vector[8:], "big") + counter) % 2**64
                            used = block(self.keys, vector[:8] + low.to_bytes(8, "big"))
                            counter += 1
                        data[i] ^= used[0]
                        used = used[1:]
                else:
                    for i in range(at, stop, 16):
                        chain = block(self.keys, bytes(a ^ b for a, b in zip(data[i : i + 16], chain)))
                        data[i : i + 16] = chain
                at = stop + pattern[1] * 16 if pattern[1] else end
        return bytes(data)


# ISO base media.
def boxes(data):
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        yield data[at + 4 : at + 8], data[at + 8 : at + size]
        at += size


def box(kind, body):
    return (len(body) + 8).to_bytes(4, "big") + kind + body


def u32(number):
    return number.to_bytes(4, "big")


CONTAINERS = (b"moov", b"trak", b"mdia", b"minf", b"stbl")


class Movie:
    def __init__(self, scheme, options, key_id, key, vector):
        self.scheme, self.options, self.key_id, self.vector = scheme, options, key_id, vector
        self.cipher = Cipher(scheme, key)
        self.video = {}
        self.track = 0
        self.fragments = 0
        self.count = 0

    def pattern(self, video):
        return (1, 9) if video and self.scheme in ("cens", "cbcs") else (0, 0)

    def parameters(self, video, key_id):
        crypt, skip = self.pattern(video)
        constant = self.scheme == "cbcs"
        size = 0 if constant else 8 if self.scheme in ("cenc", "cens") else 16
        tail = bytes([16]) + self.vector if constant else b""
        return bytes([0, crypt << 4 | skip, 1, size]) + key_id + tail

    def initialization(self, data):
        out = b""
        for kind, body in boxes(data):
            if kind == b"tkhd":
                self.track = int.from_bytes(body[12:16], "big")
            if kind in CONTAINERS:
                body = self.initialization(body)
            elif kind == b"stsd":
                (entry, content), = boxes(body[8:])
                video = entry == b"avc1"
                self.video[self.track] = video
                sinf = box(b"frma", entry) + box(b"schm", bytes(4) + self.scheme.encode() + b"\0\1\0\0")
                version = b"\1" if self.scheme in ("cens", "cbcs") else b"\0"
                tenc = box(b"tenc", version + bytes(3) + self.parameters(video, self.key_id))
                sinf = box(b"sinf", sinf + box(b"schi", tenc))
                body = body[:8] + box(b"encv" if video else b"enca", content + sinf)
            out += box(kind, body)
        return out

    def ranges(self, sample, video):
        if not video:
            return [(0, len(sample))], b""
        ranges, table, at, clear = [], [], 0, 0
        while at < len(sample):
            end = at + 4 + int.from_bytes(sample[at : at + 4], "big")
            start = min(end, at + 40)
            if self.scheme != "cbcs":
                start = end - (end - start) // 16 * 16
            clear += start - at
            if end > start:
                ranges.append((start, end))
                table.append((clear, end - start))
                clear = 0
            at = end
        if clear:
            table.append((clear, 0))
        return ranges, len(table).to_bytes(2, "big") + b"".join(c.to_bytes(2, "big") + u32(p) for c, p in table)

    def fragment(self, moof, mdat):
        """A fragment, with the vectors of its samples put in."""
        self.fragments += 1
        grouped = "seig" in self.options and self.fragments > 1
        media, out, at, places = bytearray(mdat), [], 8, []
        parts = list(boxes(moof))
        for kind, body in parts:
            if kind != b"traf":
                out.append(box(kind, body))
                continue
            inner = list(boxes(body))
            header = dict(inner)[b"tfhd"]
            flags, track = int.from_bytes(header[1:4], "big"), int.from_bytes(header[4:8], "big")
            assert not flags & 1, "no absolute offsets"
            video = self.video[track]
            place = 8 + (4 if flags & 2 else 0) + (4 if flags & 8 else 0)
            standard = int.from_bytes(header[place : place + 4], "big") if flags & 16 else 0
            descriptions = []
            runs = [body for kind, body in inner if kind == b"trun"]
            for run in runs:
                for start, size in samples(run, standard, len(moof) + 16):
                    sample = bytes(media[start : start + size])
                    ranges, table = self.ranges(sample, video)
                    self.count += 1
                    own = b"" if self.scheme == "cbcs" else self.own_vector()
                    vector = self.vector if self.scheme == "cbcs" else (own + bytes(16))[:16]
                    media[start : start + size] = self.cipher.sample(sample, ranges, vector, self.pattern(video))
                    descriptions.append(own + (table if video else b""))
            extra = b""
            if grouped:
                entry = self.parameters(video, self.key_id[:15] + bytes([self.key_id[15] ^ 1]))
                extra += box(b"sgpd", b"\1\0\0\0seig" + u32(len(entry)) + u32(1) + entry)
                extra += box(b"sbgp", bytes(4) + b"seig" + u32(1) + u32(len(descriptions)) + u32(0x10001))
            if "saio" in self.options:
                extra += box(b"saiz", bytes(5) + u32(len(descriptions)) + bytes(len(d) for d in descriptions))
                places.append((len(out), len(extra) + 16))
                extra += box(b"saio", bytes(4) + u32(1) + u32(0))
                extra += box(b"free", b"".join(descriptions))
            else:
                flags = b"\0\0\0\2" if video else bytes(4)
                extra += box(b"senc", flags + u32(len(descriptions)) + b"".join(descriptions))
            out.append(box(b"traf", body + extra))
        grown = sum(map(len, out)) - len(moof)
        for index, part in enumerate(out):
            if part[4:8] != b"traf":
                continue
            body = b""
            for kind, content in boxes(part[8:]):
                if kind == b"trun" and content[3] & 1:
                    offset = int.from_bytes(content[8:12], "big", signed=True) + grown
                    content = content[:8] + offset.to_bytes(4, "big", signed=True) + content[12:]
                body += box(kind, content)
            out[index] = box(b"traf", body)
        result = b"".join(out)
        if "saio" in self.options:
            result = point(result)
        return box(b"moof", result) + box(b"mdat", bytes(media))

    def own_vector(self):
        size = 8 if self.scheme in ("cenc", "cens") else 16
        number = int.from_bytes(self.vector[:size], "big") + self.count * 0x10001
        return (number % 2 ** (8 * size)).to_bytes(size, "big")


def point(moof):
    """Writes into each saio where the free space behind it begins, counted from the moof's first byte."""
    moof = bytearray(moof)
    at = moof.find(b"saio")
    while at >= 0:
        moof[at + 12 : at + 16] = u32(at + 16 + 8 + 8)
        at = moof.find(b"saio", at + 4)
    return bytes(moof)


def samples(run, standard, origin):
    """The samples of a run within the media: places and sizes. The run's offset counts from the moof's first byte."""
    flags, count = int.from_bytes(run[1:4], "big"), int.from_bytes(run[4:8], "big")
    start = int.from_bytes(run[8:12], "big", signed=True) - origin
    at = 8 + (4 if flags & 1 else 0) + (4 if flags & 4 else 0)
    for _ in range(count):
        at += 4 if flags & 0x100 else 0
        size = standard
        if flags & 0x200:
            size = int.from_bytes(run[at : at + 4], "big")
            at += 4
        at += (4 if flags & 0x400 else 0) + (4 if flags & 0x800 else 0)
        yield start, size
        start += size


def movie(scheme, options, key_id, key, vector, data):
    movie, out, moof = Movie(scheme, options, key_id, key, vector), b"", None
    for kind, body in boxes(data):
        if kind == b"moov":
            out += box(kind, movie.initialization(body))
        elif kind == b"moof":
            moof = body
        elif kind == b"mdat" and moof is not None:
            out += movie.fragment(moof, body)
            moof = None
        elif kind in (b"ftyp", b"styp"):
            out += box(kind, body)
    return out


# SAMPLE-AES of elementary streams.
def h264(key, vector, data):
    cipher, out, units = Cipher("cbcs", key), b"", []
    at = data.find(b"\0\0\1")
    while at >= 0:
        next_at = data.find(b"\0\0\1", at + 3)
        units.append(data[at + 3 : next_at if next_at >= 0 else len(data)])
        at = next_at
    for unit in units:
        body = unit.rstrip(b"\0")
        if body[0] & 0x1F in (1, 5) and len(body) > 48:
            last = 32 + (len(body) - 33) // 16 * 16
            body = escape(cipher.sample(body, [(32, last)], vector, (1, 9)))
        out += b"\0\0\0\1" + body
    return out


def escape(data):
    out, zeros = bytearray(), 0
    for byte in data:
        if zeros == 2 and byte <= 3:
            out.append(3)
            zeros = 0
        out.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return bytes(out)


def sound(kind, key, vector, data):
    cipher, out, at = Cipher("cbcs", key), b"", 0
    while at < len(data):
        if kind == "aac":
            header, size = 7, (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        else:
            # ffmpeg's 128 kbit/s at 48 kHz.
            header, size = 0, 512
        frame = data[at : at + size]
        start = header + 16
        out += cipher.sample(frame, [(start, start + (size - start) // 16 * 16)], vector, (0, 0))
        at += size
    return out


def main(scheme, key_id, key, vector, source, target):
    data = open(source, "rb").read()
    key_id, key, vector = map(bytes.fromhex, (key_id, key, vector))
    kind, *options = scheme.split("+")
    if kind == "h264":
        data = h264(key, vector, data)
    elif kind in ("aac", "ac3"):
        data = sound(kind, key, vector, data)
    else:
        data = movie(kind, options, key_id, key, vector, data)
    open(target, "wb").write(data)


if __name__ == "__main__":
    # FIPS 197, appendix B.
    assert block(expand(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")), bytes.fromhex(
        "3243f6a8885a308d313198a2e0370734")).hex() == "3925841d02dc09fbdc118597196a0b32"
    main(*sys.argv[1:])
