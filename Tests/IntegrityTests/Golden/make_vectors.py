"""Writes vectors.json: the byte layouts of Formats.md, made by a second implementation.

Needs the `cryptography` package, and only to make the file again; the tests read the file.
Run: python3 make_vectors.py > vectors.json
"""
import hashlib
import json
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

CHUNK = 16384
NOW = 1_800_000_000


def sha(data):
    return hashlib.sha256(data).digest()


class Key:
    def __init__(self, byte):
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([byte]) * 32)
        self.public = self.private.public_key().public_bytes_raw()
        self.id = sha(self.public)[:8]

    def sign(self, context, statement):
        return self.private.sign(context.encode() + b"\0" + statement)


AUTHORITY, SECOND, MEMBERSHIP, CLAIM, TOKEN = Key(1), Key(6), Key(2), Key(3), Key(4)
STREAM = sha(b"pdn/1 stream name\0" + b"test")[:16]


def data(count):
    return bytes((7 * i + (i >> 8) + 13 * (i >> 16)) & 255 for i in range(count))


def tree(content):
    """The root and the stripe layer, straight from the definition: a full row of leaves, padded with zeros."""
    row = [sha(content[i:i + CHUNK]) for i in range(0, len(content), CHUNK)]
    stripes = (len(row) + 7) // 8
    while len(row) & (len(row) - 1):
        row.append(bytes(32))
    layer = None
    width = 1
    while True:
        if width == 8:
            layer = row[:stripes]
        if len(row) == 1:
            break
        row = [sha(row[i] + row[i + 1]) for i in range(0, len(row), 2)]
        width *= 2
    return row[0], layer if stripes > 1 else [row[0]]


def position(kind=0, section=0, number=0, offset=0, part=0):
    return struct.pack(">BQQQH", kind, section, number, offset, part)


def statement(content, epoch, rendition, place, ticks, timescale):
    root, _ = tree(content)
    return (b"\x01" + STREAM + struct.pack(">IQ", epoch, rendition) + place
            + struct.pack(">QI", ticks, timescale) + struct.pack(">I", len(content)) + root)


def record(content, keys, epoch=0, rendition=5, place=position(number=1), ticks=4, timescale=1,
           issued=NOW - 3600, expires=NOW + 3600):
    said = statement(content, epoch, rendition, place, ticks, timescale)
    out = said + bytes([len(keys)])
    for key in sorted(keys, key=lambda key: key.id):
        head = key.id + struct.pack(">QQ", issued, expires)
        out += head + key.sign("pdn/1 record", head + said)
    _, layer = tree(content)
    return out + (b"".join(layer) if len(layer) > 1 else b"")


def certificate():
    said = (b"\x01" + b"\xa1" * 32 + CLAIM.public + bytes(range(20)) + bytes(10) + b"\xff\xff\xcb\x00\x71\x07"
            + struct.pack(">QQ", 1, 2) + struct.pack(">QQ", 3, 4) + struct.pack(">QQ", NOW, NOW + 1800)
            + struct.pack(">H", 1) + MEMBERSHIP.id)
    return said + MEMBERSHIP.sign("pdn/1 certificate", said)


def token(secret):
    viewer = sha(b"pdn/1 viewer\0" + STREAM + b"alice")[:16]
    said = (b"\x01" + STREAM + viewer + struct.pack(">HQQQ", 2, NOW, NOW + 600, 99)
            + (b"\x01" + secret if secret else b"\0") + TOKEN.id)
    return said + TOKEN.sign("pdn/1 token", said)


def claim():
    said = (b"\x01" + sha(b"root") + struct.pack(">QIB", 3, 250, 2)
            + b"\xa1" * 32 + struct.pack(">HH", 0, 2) + b"\xb2" * 32 + struct.pack(">HH", 2, 510)
            + certificate())
    return said + CLAIM.sign("pdn/1 claim", said)


def mth(row):
    """RFC 6962, section 2.1, over bytes that are hashed already."""
    if len(row) == 1:
        return row[0]
    k = 1
    while 2 * k < len(row):
        k *= 2
    return sha(b"\x01" + mth(row[:k]) + mth(row[k:]))


def catalogue(keys, page_size=8):
    """Nineteen records of two renditions: two whole pages and a part."""
    lines = [b"format=hls;kind=audio;bandwidth=64000", b"format=hls;kind=video;width=1280;height=720"]
    rows = sorted((sha(line)[:8], line) for line in lines)
    table = struct.pack(">H", len(rows)) + b"".join(
        key + struct.pack(">H", len(line)) + line for key, line in rows)
    records = []
    for rendition, (key, _) in enumerate(rows):
        number = struct.unpack(">Q", key)[0]
        for index in range(10 if rendition == 0 else 9):
            place = position(kind=1 if index == 0 else 0, number=index)
            records.append((key + place, record(
                data(1000 * (index + 1) + 200000 * rendition), keys, epoch=2, rendition=number, place=place,
                ticks=index * 90000, timescale=90000)))
    # Order: rendition, then section, number, byte offset, part, kind; here the number decides.
    records.sort(key=lambda item: (item[0][:8], item[0][9:]))
    leaves = [sha(b"\0" + body) for _, body in records]
    directory = b""
    for first in range(0, len(records), page_size):
        page = records[first:first + page_size]
        directory += (page[0][0] + struct.pack(">I", sum(len(body) for _, body in page))
                      + mth(leaves[first:first + page_size]))
    title = "Tést".encode()
    said = (b"\x89PDNCAT\n" + b"\x01" + STREAM + struct.pack(">IQQIHI", 2, NOW, NOW + 86400, len(records),
                                                            page_size, len(table))
            + sha(table + directory) + mth(leaves) + struct.pack(">H", len(title)) + title)
    head = said + bytes([len(keys)])
    for key in sorted(keys, key=lambda key: key.id):
        head += key.id + key.sign("pdn/1 catalogue", key.id + said)
    return head + table + directory + b"".join(body for _, body in records)


file = catalogue([AUTHORITY])
print(json.dumps({
    "record": record(data(300000), [AUTHORITY]).hex(),
    "recordOfOneStripe": record(data(1), [AUTHORITY, SECOND]).hex(),
    "certificate": certificate().hex(),
    "token": token(None).hex(),
    "tokenWithSecret": token(bytes(range(32))).hex(),
    "claim": claim().hex(),
    "catalogue": file.hex(),
    "swarm": __import__("hmac").new(b"secret", b"pdn/1 swarm\0" + STREAM, hashlib.blake2b).digest()[:20].hex(),
    "authority": AUTHORITY.public.hex(),
    "titleStream": sha(b"pdn/1 stream title\0" + AUTHORITY.public + b"Title").hex()[:32],
    "draw": int.from_bytes(sha(b"pdn/1 election\0" + struct.pack(">QQ", 3, 4) + sha(b"root"))[:8], "big") >> 11,
}, indent=1))
