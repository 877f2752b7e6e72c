"""Who may come in: passwords kept as scrypt hashes, and bearer tokens (JWT, HS256) with a time to live."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from pathlib import Path

from warehouse.errors import fail

_COST, _BLOCK, _LANES = 1 << 14, 8, 1
_LASTS = 60_000
"""Milliseconds for which the gate may remember that a password was right."""


def hashed(password: str, salt: bytes | None = None) -> str:
    """Return a password as the file keeps it: ``scrypt$n$r$p$salt$hash``, salt and hash in base64.

    Source: RFC 7914; the parameters are OWASP's for interactive logins.
    """
    salt = salt or secrets.token_bytes(16)
    digest = hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_LANES, maxmem=1 << 26)
    return f"scrypt${_COST}${_BLOCK}${_LANES}${_encoded(salt)}${_encoded(digest)}"


def set_password(file: Path, user: str, password: str) -> None:
    """Write a user's password into a file, made when it is not there, readable by its owner alone.

    Raises:
        WarehouseError: a name or password that cannot be kept.
    """
    if not re.fullmatch(r"[^\s:]+", user):
        fail("WAREHOUSE_SERVER_OPTION", reason="a user's name has no colon and no white space")
    if not password:
        fail("WAREHOUSE_SERVER_OPTION", reason="the password is empty")
    kept = _passwords(file) if file.exists() else {}
    kept[user] = hashed(password)
    fresh = file.with_name(file.name + ".new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as out:
        out.writelines(f"{name}:{value}\n" for name, value in sorted(kept.items()))
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(file)


def password_is_right(file: Path, user: str, password: str) -> bool:
    """Say whether a user's password is the one of the file; the file is read anew, so a change counts at once.

    Raises:
        WarehouseError: the file is not what ``set_password`` writes.
    """
    kept = _passwords(file).get(user)
    # An unknown user takes as long as a wrong password.
    _, n, r, p, salt, digest = (kept or hashed("", b"nobody" + bytes(10))).split("$")
    asked = hashlib.scrypt(password.encode(), salt=base64.b64decode(salt), n=int(n), r=int(r), p=int(p), maxmem=1 << 26)
    return hmac.compare_digest(asked, base64.b64decode(digest)) and kept is not None


def _passwords(file: Path) -> dict[str, str]:
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        fail("WAREHOUSE_SERVER_OPTION", reason=f"{file}: {error.strerror}")
    found = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        user, _, value = line.partition(":")
        if not re.fullmatch(r"scrypt\$\d+\$\d+\$\d+\$[\w+/=]+\$[\w+/=]+", value):
            fail(
                "WAREHOUSE_SERVER_OPTION",
                reason=f"{file}, line {number} is not USER:scrypt$… ; warehouse-sql password writes it",
            )
        found[user] = value
    return found


# ------------------------------------------------------------------ tokens


def token(key: bytes, user: str, seconds: int, now: float | None = None) -> str:
    """Return a token that lets a user in for so many seconds.

    Source: RFC 7519 (claims ``sub``, ``iat``, ``exp``) and RFC 7515 (signature HS256).
    """
    now = time.time() if now is None else now
    head = _part({"alg": "HS256", "typ": "JWT"})
    body = _part({"sub": user, "iat": int(now), "exp": int(now + seconds)})
    return f"{head}.{body}.{_signature(key, f'{head}.{body}')}"


def token_lasts(key: bytes, user: str, given: str, now: float | None = None) -> int:
    """Return for how many more milliseconds a token lets a user in; 0 when it does not.

    Example:
        >>> key = b"k" * 32
        >>> token_lasts(key, "ada", token(key, "ada", 10, now=100), now=104), token_lasts(key, "eve", "x.y.z")
        (6000, 0)
    """
    head, _, rest = given.partition(".")
    body, _, signature = rest.partition(".")
    if not hmac.compare_digest(_signature(key, f"{head}.{body}").encode(), signature.encode()):
        return 0
    try:
        claims, kind = json.loads(_decoded(body)), json.loads(_decoded(head))
        left = float(claims["exp"]) - (time.time() if now is None else now)
        begun = float(claims.get("nbf", 0)) <= (time.time() if now is None else now)
    except (ValueError, KeyError, TypeError):
        return 0
    if kind.get("alg") != "HS256" or claims.get("sub") != user or not user or not begun:
        return 0
    return max(0, int(left * 1000))


def signing_key(file: Path) -> bytes:
    """Return the key of a file.

    Raises:
        WarehouseError: it is too short to sign with.
    """
    try:
        key = file.read_bytes().strip()
    except OSError as error:
        fail("WAREHOUSE_SERVER_OPTION", reason=f"{file}: {error.strerror}")
    if len(key) < 32:
        fail(
            "WAREHOUSE_SERVER_OPTION",
            reason=f"{file} holds fewer than 32 bytes; head -c 32 /dev/urandom | base64 makes a key",
        )
    return key


class Gate:
    """Judges names and passwords for the endpoint."""

    def __init__(self, password_file: Path | None, token_key: Path | None):
        """Read passwords from a file and check tokens with a key; either may be missing.

        Raises:
            WarehouseError: a file is not what it should be.
        """
        self._passwords = password_file
        self._key = signing_key(token_key) if token_key else None
        if password_file:
            _passwords(password_file)

    def lasts(self, user: str, secret: str) -> int:
        """Return for how many milliseconds a secret lets a user in without being looked at again; 0: not at all."""
        if self._key is not None and secret.count(".") == 2 and (left := token_lasts(self._key, user, secret)):
            return left
        if self._passwords is not None and password_is_right(self._passwords, user, secret):
            return _LASTS
        return 0


def _part(claims: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims, separators=(",", ":")).encode()).rstrip(b"=").decode()


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _signature(key: bytes, text: str) -> str:
    digest = hmac.new(key, text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
