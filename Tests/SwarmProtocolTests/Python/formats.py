"""Signed formats and the tree of a segment, from the document of the module Integrity."""

import hashlib
import struct
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

CHUNK = 16_384
STATEMENT = struct.Struct(">B16sIQBQQQHQII32s")
CERTIFICATE = struct.Struct(">B32s32s20s16s16s16sQQH8s")
CLOCK_TOLERANCE = 60


class FormatError(Exception):
    pass


def sha256(data):
    return hashlib.sha256(data).digest()


def key_id(key):
    return sha256(key)[:8]


def verify(context, statement, signature, key):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, context.encode() + b"\0" + statement)
        return True
    except (InvalidSignature, ValueError):
        return False


def sign(context, statement, seed):
    return Ed25519PrivateKey.from_private_bytes(seed).sign(context.encode() + b"\0" + statement)


def signing_public_key(seed):
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


# The tree


def chunks(data):
    return [data[offset : offset + CHUNK] for offset in range(0, len(data), CHUNK)]


def power_of_two(count):
    return 1 << (count - 1).bit_length()


def fold(row, padding):
    row = row + [padding] * (power_of_two(len(row)) - len(row))
    while len(row) > 1:
        row = [sha256(row[index] + row[index + 1]) for index in range(0, len(row), 2)]
    return row[0]


def stripe_hash(leaf_hashes, stripe_count):
    width = power_of_two(len(leaf_hashes)) if stripe_count == 1 else 8
    return fold(leaf_hashes + [bytes(32)] * (width - len(leaf_hashes)), bytes(32))


def layer_root(layer):
    padding = fold([bytes(32)] * 8, bytes(32))
    return fold(layer, padding)


class Segment:
    """A segment's record that was read and checked, with what has come of its bytes."""

    def __init__(self, signed, authorities, stream=None, now=None):
        self.signed = signed
        if len(signed) < 105:
            raise FormatError("short record")
        fields = STATEMENT.unpack_from(signed)
        if fields[0] != 1:
            raise FormatError("record version")
        self.name = fields[1:9]
        self.byte_count, self.root = fields[11], fields[12]
        self.chunk_count = (self.byte_count + CHUNK - 1) // CHUNK
        self.stripe_count = (self.chunk_count + 7) // 8
        statement, count, rest = signed[:104], signed[104], signed[105:]
        self.is_signed = False
        now = time.time() if now is None else now
        for _ in range(count):
            identifier, issued, expires, signature = struct.unpack_from(">8sQQ64s", rest)
            rest = rest[88:]
            message = identifier + struct.pack(">QQ", issued, expires) + statement
            for key in authorities:
                in_time = issued - CLOCK_TOLERANCE <= now <= expires + CLOCK_TOLERANCE
                if key_id(key) == identifier and in_time and verify("pdn/1 record", message, signature, key):
                    self.is_signed = True
        size = 0 if self.stripe_count == 1 else 32 * self.stripe_count
        if len(rest) != size:
            raise FormatError("layer length")
        self.layer = [rest[index : index + 32] for index in range(0, size, 32)] or [self.root]
        if layer_root(self.layer) != self.root:
            raise FormatError("layer")
        if not self.is_signed or (stream is not None and self.name[0] != stream):
            raise FormatError("not signed for this stream by a trusted authority")
        self.leaves = {}
        self.chunks = {}

    def chunk_size(self, chunk):
        return min(CHUNK, self.byte_count - chunk * CHUNK)

    def accept_leaves(self, stripe, hashes):
        if stripe >= self.stripe_count or stripe_hash(hashes, self.stripe_count) != self.layer[stripe]:
            raise FormatError("leaves")
        self.leaves[stripe] = hashes

    def accept(self, chunk, payload):
        leaf = self.leaves[chunk // 8][chunk % 8]
        if len(payload) != self.chunk_size(chunk) or sha256(payload) != leaf:
            raise FormatError("chunk")
        self.chunks[chunk] = payload

    @property
    def data(self):
        return b"".join(self.chunks[chunk] for chunk in range(self.chunk_count))


def make_record(statement_fields, layer, seed, issued, expires):
    """A signed segment by a key of one's own."""
    statement = STATEMENT.pack(*statement_fields)
    identifier = key_id(signing_public_key(seed))
    message = identifier + struct.pack(">QQ", issued, expires) + statement
    signed = statement + b"\x01" + identifier + struct.pack(">QQ", issued, expires)
    signed += sign("pdn/1 record", message, seed)
    return signed + (b"".join(layer) if len(layer) > 1 else b"")


def tree(data):
    """Leaves by stripe, layer and root of some bytes."""
    hashes = [sha256(chunk) for chunk in chunks(data)]
    stripes = [hashes[index : index + 8] for index in range(0, len(hashes), 8)]
    layer = [stripe_hash(stripe, len(stripes)) for stripe in stripes]
    return stripes, layer, layer_root(layer)


# Certificates


class Certificate:
    def __init__(self, encoded, membership_keys, swarm, now=None):
        if len(encoded) != 223:
            raise FormatError("certificate length")
        (version, self.peer, self.claim_key, self.swarm, _, self.pseudonym, self.nonce, begins, expires, self.flags,
         identifier) = CERTIFICATE.unpack_from(encoded)
        now = time.time() if now is None else now
        if version != 1 or self.swarm != swarm:
            raise FormatError("certificate version or swarm")
        if not begins - CLOCK_TOLERANCE <= now <= expires + CLOCK_TOLERANCE:
            raise FormatError("certificate time")
        if not any(
            key_id(key) == identifier and verify("pdn/1 certificate", encoded[:159], encoded[159:], key)
            for key in membership_keys
        ):
            raise FormatError("certificate signature")


# Catalogues


class Catalogue:
    """The segments of a catalogue file, checked."""

    def __init__(self, data, authorities, now=None):
        now = time.time() if now is None else now
        head = struct.Struct(">8sB16sIQQIHI32s32sH")
        (magic, version, self.stream, self.epoch, issued, expires, count, page_size, table_size, index_digest, root,
         title_size) = head.unpack_from(data)
        if magic != b"\x89PDNCAT\n" or version != 1 or not issued - 60 <= now <= expires + 60:
            raise FormatError("catalogue head")
        end = head.size + title_size
        statement, offset = data[:end], end + 1
        signed = False
        for _ in range(data[end]):
            identifier, signature = data[offset : offset + 8], data[offset + 8 : offset + 72]
            offset += 72
            signed = signed or any(
                key_id(key) == identifier and verify("pdn/1 catalogue", identifier + statement, signature, key)
                for key in authorities
            )
        if not signed:
            raise FormatError("catalogue signature")
        pages = (count + page_size - 1) // page_size
        table_end = offset + table_size
        index_end = table_end + 71 * pages
        if sha256(data[offset:index_end]) != index_digest:
            raise FormatError("catalogue index")
        self.segments = []
        hashes, position = [], index_end
        for page in range(pages):
            size, = struct.unpack_from(">I", data, table_end + 71 * page + 35)
            rest, page_leaves = data[position : position + size], []
            position += size
            while rest:
                length = signed_length(rest)
                page_leaves.append(sha256(b"\0" + rest[:length]))
                self.segments.append(Segment(rest[:length], authorities, self.stream, now))
                rest = rest[length:]
            digest = history(page_leaves)
            if digest != data[table_end + 71 * page + 39 : table_end + 71 * page + 71]:
                raise FormatError("catalogue page")
            hashes.append(digest)
        if history(hashes) != root or len(self.segments) != count:
            raise FormatError("catalogue root")


def signed_length(data):
    byte_count, = struct.unpack_from(">I", data, 68)
    stripes = ((byte_count + CHUNK - 1) // CHUNK + 7) // 8
    return 105 + 88 * data[104] + (32 * stripes if stripes > 1 else 0)


def history(row):
    """The root of RFC 6962, section 2.1, over hashed leaves."""
    if len(row) == 1:
        return row[0]
    split = power_of_two(len(row)) // 2
    return sha256(b"\x01" + history(row[:split]) + history(row[split:]))
