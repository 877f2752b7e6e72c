"""Who may come in: passwords, tokens, a directory, TLS; and what is refused before anything listens."""

from __future__ import annotations

import base64
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Jdbc
from tests.server.test_sessions import in_the_front, running, wait_until
from warehouse.cli.thrift_client import ThriftEngine
from warehouse.engine import Engine, WarehouseError
from warehouse.server import access
from warehouse.server.endpoint import Endpoint
from warehouse.server.options import Options, check

KEY = base64.b64encode(bytes(range(48)))


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file of passwords, a key for tokens, and a certificate for localhost."""
    home = tmp_path_factory.mktemp("secrets")
    access.set_password(home / "passwords", "ada", "correct horse")
    (home / "token.key").write_bytes(KEY)
    (home / "token.key").chmod(0o600)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "chain.pem", "-days",
         "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        cwd=home, check=True, capture_output=True,
    )  # fmt: skip
    (home / "key.pem").chmod(0o600)
    return home


@contextmanager
def directory(knows: dict[bytes, bytes]) -> Iterator[str]:
    """Run an LDAP server that answers simple binds, and yield its address."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer(client: socket.socket) -> None:
        with client:
            # Java cancels an answer it has not looked at when the line is cut, so the client hangs up, not we.
            while asked := client.recv(4096):
                if b"\x02\x01\x03\x04" not in asked:  # an unbind
                    continue
                at = asked.index(b"\x02\x01\x03\x04") + 4  # version 3, then the name
                name = asked[at + 1 : at + 1 + asked[at]]
                rest = asked[at + 1 + asked[at] :]
                password = rest[2 : 2 + rest[1]]
                code = 0 if knows.get(name) == password else 49
                client.sendall(bytes([0x30, 12, 2, 1, asked[4], 0x61, 7, 10, 1, code, 4, 0, 4, 0]))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=answer, args=(client,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with listening:
        yield f"ldap://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(scope="module")
def guarded(engine: Engine, secrets: Path) -> Iterator[Endpoint]:
    """Return an endpoint that asks for passwords or tokens, over TLS."""
    with directory({b"uid=lea,ou=people": b"from the directory"}) as url:
        options = Options(
            host="localhost", port=0, http_port=0, password_file=secrets / "passwords", token_key=secrets / "token.key",
            certificate=secrets / "chain.pem", key=secrets / "key.pem", ldap_url=url, ldap_pattern="uid=%s,ou=people",
        )  # fmt: skip
        with Endpoint(engine, options) as started:
            yield started


@pytest.fixture
def enter(guarded: Endpoint, view: Any, secrets: Path, tmp_path: Path) -> Callable[..., list[list[Any]]]:
    """Return what comes in over JDBC with a name and a secret, and asks something."""
    store = tmp_path / "trust.p12"
    subprocess.run(
        ["keytool", "-importcert", "-noprompt", "-alias", "x", "-file", secrets / "chain.pem", "-keystore", store,
         "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True,
    )  # fmt: skip

    def asked(user: str, secret: str, http: bool = False) -> list[list[Any]]:
        extra = ";transportMode=http;httpPath=cliservice" if http else ""
        port = guarded.http_port if http else guarded.port
        trust = f";ssl=true;sslTrustStore={store};trustStorePassword=changeit"
        client = Jdbc(view, f"jdbc:hive2://localhost:{port}/default{trust}{extra}", user, secret)
        with closing(client):
            return client.run("SELECT 1")

    return asked


@pytest.mark.parametrize("http", [False, True], ids=["binary", "http"])
def test_the_right_secret_opens(enter: Callable[..., Any], http: bool) -> None:
    assert enter("ada", "correct horse", http) == [["1"]]
    assert enter("ada", access.token(KEY, "ada", 60), http) == [["1"]]
    assert enter("lea", "from the directory", http) == [["1"]]


@pytest.mark.parametrize("http", [False, True], ids=["binary", "http"])
@pytest.mark.parametrize(
    ("user", "secret"),
    [
        ("ada", "wrong"),
        ("nobody", "correct horse"),
        ("ada", access.token(KEY, "ada", -1)),
        ("ada", access.token(KEY, "eve", 60)),
        ("ada", access.token(b"another key that is long enough..", "ada", 60)),
        ("lea", "wrong"),
        ("lea,ou=people", "from the directory"),
        ("lea", " "),
    ],
    ids=["password", "user", "expired", "someone else's", "forged", "directory", "injection", "blank"],
)
def test_the_wrong_one_does_not(enter: Callable[..., Any], user: str, secret: str, http: bool) -> None:
    with pytest.raises(Exception, match=r"(?i)authenticat|peer indicated failure|401"):
        enter(user, secret, http)


def test_a_bearer_token_over_http(guarded: Endpoint, secrets: Path) -> None:
    trusted = ssl.create_default_context(cafile=str(secrets / "chain.pem"))

    def status(authorization: str) -> bytes:
        with (
            socket.create_connection(("localhost", guarded.http_port or 0)) as raw,
            trusted.wrap_socket(raw, server_hostname="localhost") as wire,
        ):
            head = f"POST /cliservice HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n"
            wire.sendall(f"{head}Content-Type: application/x-thrift\r\nContent-Length: 0\r\n\r\n".encode())
            return wire.recv(4096).split(b"\r\n")[0].split(b" ")[1]

    # Let in, an empty call is none that the protocol knows.
    assert status(f"Bearer {access.token(KEY, 'ada', 60)}") != b"401"
    assert status(f"Bearer {access.token(KEY, 'ada', -5)}") == b"401"
    assert status("Bearer nonsense") == b"401"
    assert status("Basic " + base64.b64encode(b"ada:wrong").decode()) == b"401"


def test_a_client_that_vanishes_while_it_waits_is_noticed_through_tls(
    guarded: Endpoint, engine: Engine, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("USER", "ada"), ("PASSWORD", "correct horse"), ("CA", str(secrets / "chain.pem"))):
        monkeypatch.setenv(f"WAREHOUSE_{name}", value)
    client = ThriftEngine(f"localhost:{guarded.port}")
    slept = "SELECT java_method('java.lang.Thread', 'sleep', 3000L) IS NULL AS slept"
    for result in client.run(slept):  # is looked at, and stays
        assert [batch.to_pylist() for batch in result.batches] == [[{"slept": False}]]
    in_the_front(client._connection.cursor(), engine)
    client._connection._transport._trans.handle.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: guarded.sessions == 0)
    wait_until(lambda: not running(engine))


def test_plain_text_is_refused_where_tls_is_spoken(guarded: Endpoint) -> None:
    with socket.create_connection(("localhost", guarded.port or 0)) as wire:
        wire.sendall(b"\x01\x00\x00\x00\x05PLAIN")
        wire.settimeout(120)
        assert not wire.recv(100).startswith(b"\x02")  # the first word of a server that would go on


def test_old_tls_is_refused(guarded: Endpoint, secrets: Path) -> None:
    old = ssl.create_default_context(cafile=str(secrets / "chain.pem"))
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with (
        socket.create_connection(("localhost", guarded.port or 0)) as raw,
        pytest.raises((ssl.SSLError, OSError)),
        old.wrap_socket(raw, server_hostname="localhost"),
    ):
        pass


def test_a_certificate_that_nobody_vouches_for_is_refused(guarded: Endpoint, enter: Callable[..., Any]) -> None:
    with (
        socket.create_connection(("localhost", guarded.port or 0)) as raw,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        ssl.create_default_context().wrap_socket(raw, server_hostname="localhost")
    assert enter("ada", "correct horse") == [["1"]]


@pytest.mark.soak
def test_who_connects_and_says_nothing_is_cut_off(endpoint: Endpoint, guarded: Endpoint) -> None:
    for port in (endpoint.port, guarded.port):
        with socket.create_connection(("localhost", port or 0)) as wire:
            wire.settimeout(120)
            with suppress(ConnectionResetError):
                while wire.recv(100):  # TLS says goodbye
                    pass


def test_garbage_and_silence_harm_nobody(endpoint: Endpoint, pyhive: Callable[..., Any]) -> None:
    silent = socket.create_connection(("127.0.0.1", endpoint.port or 0))
    for garbage in (
        b"GET / HTTP/1.1\r\n\r\n",
        bytes(1000),
        b"\xff" * 1000,
        struct.pack("!BI", 1, 2**31 - 1) + b"PLAIN",
    ):
        with socket.create_connection(("127.0.0.1", endpoint.port or 0)) as wire:
            wire.sendall(garbage)
            wire.settimeout(5)
            with suppress(OSError):
                wire.recv(1000)
    cursor = pyhive().cursor()
    cursor.execute("SELECT 1")
    assert cursor.fetchall() == [(1,)]
    silent.close()


# ------------------------------------------------------------------ without a server


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        (Options(host="0.0.0.0"), "WAREHOUSE_SERVER_OPEN"),
        (Options(port=None), "WAREHOUSE_SERVER_OPTION"),
        (Options(port=99999), "WAREHOUSE_SERVER_OPTION"),
        (Options(query_timeout=-1), "WAREHOUSE_SERVER_OPTION"),
        (Options(sessions=0), "WAREHOUSE_SERVER_OPTION"),
        (Options(ldap_url="ldap://x"), "WAREHOUSE_SERVER_OPTION"),
        (Options(ldap_url="ldap://x", ldap_pattern="uid=u"), "WAREHOUSE_SERVER_OPTION"),
        (Options(ldap_url="http://x", ldap_pattern="uid=%s"), "WAREHOUSE_SERVER_OPTION"),
        (Options(certificate=Path("x")), "WAREHOUSE_SERVER_OPTION"),
        (Options(password_file=Path("nowhere")), "WAREHOUSE_SERVER_OPTION"),
        (Options(host="no such host.invalid"), "WAREHOUSE_SERVER_OPTION"),
    ],
    ids=range(11),
)
def test_what_is_refused_before_it_listens(options: Options, condition: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        check(options)
    assert caught.value.condition == condition


def test_beyond_this_machine_both_are_needed(secrets: Path) -> None:
    passwords, chain, key = secrets / "passwords", secrets / "chain.pem", secrets / "key.pem"
    with pytest.raises(WarehouseError, match="lacks TLS"):
        check(Options(host="0.0.0.0", password_file=passwords))
    with pytest.raises(WarehouseError, match="lacks a way to tell who comes in"):
        check(Options(host="::", certificate=chain, key=key))
    check(Options(host="0.0.0.0", password_file=passwords, certificate=chain, key=key))
    check(Options(host="0.0.0.0", insecure=True))


def test_secrets_are_nobody_elses(secrets: Path, tmp_path: Path) -> None:
    shown = tmp_path / "passwords"
    shown.write_bytes((secrets / "passwords").read_bytes())
    shown.chmod(0o644)
    with pytest.raises(WarehouseError, match="others may read it"):
        check(Options(password_file=shown))
    assert (secrets / "passwords").stat().st_mode & 0o777 == 0o600
    assert "correct horse" not in (secrets / "passwords").read_text()


def test_passwords() -> None:
    one, two = access.hashed("p"), access.hashed("p")
    assert one != two and one.startswith("scrypt$")


@pytest.mark.parametrize("text", ["ada:plain", "ada", "ada:scrypt$1$2"])
def test_a_file_of_something_else(text: str, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.write_text(text + "\n")
    with pytest.raises(WarehouseError, match="line 1"):
        access.password_is_right(file, "ada", "plain")


def test_tokens_that_are_none() -> None:
    good = access.token(KEY, "ada", 60, now=time.time())
    head, body, signature = good.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    for bad in ("", "..", f"{head}.{body}.", f"{none}.{body}.", f"{none}.{body}.{signature}", good + "x", "é.é.é"):
        assert access.token_lasts(KEY, "ada", bad) == 0
    assert access.token_lasts(KEY, "ada", good) > 0
