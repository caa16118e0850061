"""Noise XX and IK with 25519, ChaChaPoly and BLAKE2b (revision 34), over `cryptography` and hashlib."""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

PATTERNS = {
    "xx": (["e"], ["e", "ee", "s", "es"], ["s", "se"]),
    "ik": (["e", "es", "s", "ss"], ["e", "ee", "se"]),
}


class NoiseError(Exception):
    pass


def blake2b(data):
    return hashlib.blake2b(data).digest()


def hmac_blake2b(key, data):
    return hmac.new(key, data, hashlib.blake2b).digest()


def public_key(seed):
    return X25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def agree(seed, other):
    try:
        return X25519PrivateKey.from_private_bytes(seed).exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError as error:
        raise NoiseError("weak key") from error


class Cipher:
    """A key and its counter."""

    def __init__(self, key):
        self.aead = ChaCha20Poly1305(key)
        self.nonce = 0

    def _next(self):
        nonce = bytes(4) + self.nonce.to_bytes(8, "little")
        self.nonce += 1
        return nonce

    def seal(self, plaintext, associated=b""):
        return self.aead.encrypt(self._next(), plaintext, associated)

    def open(self, ciphertext, associated=b""):
        try:
            return self.aead.decrypt(self._next(), ciphertext, associated)
        except InvalidTag as error:
            raise NoiseError("not authentic") from error


class Handshake:
    def __init__(self, pattern, is_initiator, static_seed, ephemeral_seed, prologue, remote=None):
        name = f"Noise_{pattern.upper()}_25519_ChaChaPoly_BLAKE2b".encode()
        self.hash = name + bytes(64 - len(name))
        self.chain = self.hash
        self.cipher = None
        self.pattern = PATTERNS[pattern]
        self.is_initiator = is_initiator
        self.static_seed = static_seed
        self.ephemeral_seed = ephemeral_seed
        self.remote = remote
        self.remote_ephemeral = None
        self.turn = 0
        self._mix_hash(prologue)
        if pattern == "ik":
            self._mix_hash(remote if is_initiator else public_key(static_seed))

    @property
    def is_finished(self):
        return self.turn == len(self.pattern)

    def write(self, payload=b""):
        message = b""
        for token in self.pattern[self.turn]:
            if token == "e":
                key = public_key(self.ephemeral_seed)
                message += key
                self._mix_hash(key)
            elif token == "s":
                message += self._encrypt(public_key(self.static_seed))
            else:
                self._agree(token)
        self.turn += 1
        return message + self._encrypt(payload)

    def read(self, message):
        for token in self.pattern[self.turn]:
            if token == "e":
                self.remote_ephemeral, message = message[:32], message[32:]
                if len(self.remote_ephemeral) != 32:
                    raise NoiseError("short message")
                self._mix_hash(self.remote_ephemeral)
            elif token == "s":
                size = 48 if self.cipher else 32
                self.remote, message = self._decrypt(message[:size]), message[size:]
            else:
                self._agree(token)
        self.turn += 1
        return self._decrypt(message)

    def split(self):
        """The ciphers for what this side sends and for what it receives."""
        first, second = self._expand(b"")
        ciphers = Cipher(first[:32]), Cipher(second[:32])
        return ciphers if self.is_initiator else ciphers[::-1]

    def _mix_hash(self, data):
        self.hash = blake2b(self.hash + data)

    def _expand(self, material):
        extracted = hmac_blake2b(self.chain, material)
        first = hmac_blake2b(extracted, b"\x01")
        return first, hmac_blake2b(extracted, first + b"\x02")

    def _agree(self, token):
        # The first letter is the initiator's key, the second the responder's.
        mine, theirs = token if self.is_initiator else token[::-1]
        secret = agree(
            self.ephemeral_seed if mine == "e" else self.static_seed,
            self.remote_ephemeral if theirs == "e" else self.remote,
        )
        self.chain, key = self._expand(secret)
        self.cipher = Cipher(key[:32])

    def _encrypt(self, plaintext):
        sealed = self.cipher.seal(plaintext, self.hash) if self.cipher else plaintext
        self._mix_hash(sealed)
        return sealed

    def _decrypt(self, sealed):
        plaintext = self.cipher.open(sealed, self.hash) if self.cipher else sealed
        self._mix_hash(sealed)
        return plaintext
