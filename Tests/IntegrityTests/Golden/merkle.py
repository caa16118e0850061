"""Prints BEP 52 roots with nothing but hashlib: the expectations in MerkleTreeTests.swift.

Byte i of the data is (7 * i + (i >> 8) + 13 * (i >> 16)) mod 256.
"""
import hashlib

BLOCK = 16384


def root(data: bytes) -> str:
    row = [hashlib.sha256(data[i:i + BLOCK]).digest() for i in range(0, len(data), BLOCK)]
    while len(row) & (len(row) - 1):
        row.append(bytes(32))
    while len(row) > 1:
        row = [hashlib.sha256(row[i] + row[i + 1]).digest() for i in range(0, len(row), 2)]
    return row[0].hex()


for size in (1, 16384, 3 * 16384 + 5, 131072, 131073, 300000, 1300000, 5 * 131072):
    print(size, root(bytes((7 * i + (i >> 8) + 13 * (i >> 16)) & 255 for i in range(size))))
