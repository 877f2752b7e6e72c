"""What an endpoint is told, checked before anything listens."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import fail


@dataclass(frozen=True)
class Options:
    """How an endpoint listens, whom it lets in, and how much of it there may be at a time.

    Attributes:
        host: the address to listen on.
        port, http_port: 0 for any free one, None for not that transport.
        password_file: user names and hashed passwords (``access``).
        token_key: file with the key that bearer tokens are signed with.
        ldap_url, ldap_pattern: a directory, and the distinguished name in it with ``%s`` for the user.
        certificate, key: PEM files for TLS.
        insecure: listen beyond this machine although anybody may come in or read along.
        query_timeout: seconds after which a statement is cancelled, 0 for never.
        idle_session: seconds after which a session that does nothing is closed, 0 for never.
    """

    host: str = "127.0.0.1"
    port: int | None = 10000
    http_port: int | None = None
    password_file: Path | None = None
    token_key: Path | None = None
    ldap_url: str | None = None
    ldap_pattern: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False
    sessions: int = 300
    sessions_per_user: int = 100
    statements: int = 100
    statements_per_user: int = 50
    query_timeout: int = 0
    idle_session: int = 8 * 3600

    @property
    def authenticates(self) -> bool:
        """Say whether users have to prove who they are."""
        return bool(self.password_file or self.token_key or self.ldap_url)


_LAST_PORT = 65535


def check(options: Options) -> None:
    """Refuse what does not fit together, and what would let strangers in.

    Raises:
        WarehouseError: a file is missing or does not fit, or the endpoint would listen beyond this machine without
            authentication and TLS.
    """
    if options.port is None and options.http_port is None:
        fail("WAREHOUSE_SERVER_OPTION", reason="neither --port nor --http-port is given")
    for word, port in (("--port", options.port), ("--http-port", options.http_port)):
        if port is not None and not 0 <= port <= _LAST_PORT:
            fail(
                "WAREHOUSE_SERVER_OPTION", reason=f"{word} {port} is no port: they go from 0, for any, to {_LAST_PORT}"
            )
    for word, seconds in (("--query-timeout", options.query_timeout), ("--idle-session", options.idle_session)):
        if seconds < 0:
            fail("WAREHOUSE_SERVER_OPTION", reason=f"{word} is negative; 0 is for never")
    if min(options.sessions, options.sessions_per_user, options.statements, options.statements_per_user) < 1:
        fail("WAREHOUSE_SERVER_OPTION", reason="so many sessions and statements that nobody could ask anything")
    if bool(options.ldap_url) != bool(options.ldap_pattern):
        fail("WAREHOUSE_SERVER_OPTION", reason="--ldap-url and --ldap-user go together")
    if options.ldap_pattern and "%s" not in options.ldap_pattern:
        fail("WAREHOUSE_SERVER_OPTION", reason="--ldap-user has no %s where the user's name belongs")
    if options.ldap_url and not options.ldap_url.startswith(("ldap://", "ldaps://")):
        fail("WAREHOUSE_SERVER_OPTION", reason="--ldap-url starts neither with ldap:// nor with ldaps://")
    if bool(options.certificate) != bool(options.key):
        fail("WAREHOUSE_SERVER_OPTION", reason="--tls-certificate and --tls-key go together")
    for file in (options.password_file, options.token_key, options.key):
        if file is not None:
            _private(file)
    if options.certificate and options.key:
        _fits(options.certificate, options.key)
    if not options.insecure and not is_loopback(options.host):
        missing = (
            [] if options.authenticates else ["a way to tell who comes in (--password-file, --token-key or --ldap-url)"]
        )
        missing += [] if options.certificate else ["TLS (--tls-certificate and --tls-key)"]
        if missing:
            fail("WAREHOUSE_SERVER_OPEN", host=options.host, missing=" and ".join(missing))


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach an address; every address that a name stands for counts."""
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError as error:
        fail("WAREHOUSE_SERVER_OPTION", reason=f"--host {host}: {error.strerror or error}")
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found)


def _private(file: Path) -> None:
    """Refuse a file of secrets that others may read."""
    try:
        mode = file.stat().st_mode
    except OSError as error:
        fail("WAREHOUSE_SERVER_OPTION", reason=f"{file}: {error.strerror}")
    if mode & 0o077:
        fail("WAREHOUSE_SECRET_READABLE", file=file)


def _fits(certificate: Path, key: Path) -> None:
    """Refuse a certificate and a key that do not belong together, or of a kind that Java cannot read."""
    try:
        text = key.read_text(encoding="ascii")
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        fail("WAREHOUSE_SERVER_OPTION", reason=f"{certificate} and {key} do not serve for TLS: {error}")
    if "-----BEGIN PRIVATE KEY-----" not in text:
        fail("WAREHOUSE_SERVER_KEY", file=key)
