"""Fetching by URL: allowed hosts at public addresses alone, by whatever way, within a time and a size.

The servers are real ones on this machine; only what names mean is put in the place of the real look-up.
"""

import gzip
import ipaddress
import socket
import ssl
import threading
import zlib
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from file_server import redirect, respond, serving

from app.web.fetching.address import is_public, public_addresses
from app.web.fetching.allowed import AllowedHosts
from app.web.fetching.body import decoded
from app.web.fetching.errors import (
    AddressNotPublic,
    BadUrl,
    UrlNotAllowed,
    UrlRefused,
    UrlUnreachable,
    UrlUnreadable,
)
from app.web.fetching.fetch import Fetcher
from workers.files import FileTooLarge


@pytest.fixture
def server():
    with serving() as server:
        yield server


def here(host, port):
    return ["127.0.0.1"]


def fetcher(server, seconds=20.0, limit=100_000, hosts="docs.example.org,*.example.net", resolve=here):
    named = ",".join(f"{host}:{server.port}" for host in hosts.split(","))
    return Fetcher(AllowedHosts(named), seconds, limit, resolve)


def fetch(fetcher, url):
    with fetcher.fetch(url) as fetched:
        pieces = []
        while piece := fetched.body.read(1 << 16):
            pieces.append(piece)
        return fetched.media_type, b"".join(pieces)


def url_of(server, path="/a.html", host="docs.example.org"):
    return f"http://{host}:{server.port}{path}"


def test_a_document_is_fetched_with_its_kind_under_the_name_of_its_host(server):
    server.answers["/a.html?page=2"] = lambda handler: respond(
        handler, 200, b"<p>Text", content_type="Text/HTML; charset=utf-8"
    )
    assert fetch(fetcher(server), url_of(server, "/a.html?page=2#part")) == ("text/html", b"<p>Text")
    assert server.asked == [(f"docs.example.org:{server.port}", "/a.html?page=2")]


@pytest.mark.parametrize(
    ("hosts", "url", "allowed"),
    [
        ("docs.example.org", "https://docs.example.org/a", True),
        ("docs.example.org", "HTTP://DOCS.Example.ORG/a", True),
        (" a.example , docs.example.org ", "http://docs.example.org:80/", True),
        ("docs.example.org", "https://docs.example.org:8443/", False),
        ("docs.example.org", "https://docs.example.org:99999/", False),
        ("docs.example.org:8443", "https://docs.example.org:8443/", True),
        ("docs.example.org:8443", "https://docs.example.org/", False),
        ("docs.example.org", "http://docs.example.org:443/", False),
        ("docs.example.org", "https://example.org/", False),
        ("docs.example.org", "https://docs.example.org.evil.example/", False),
        ("docs.example.org", "https://evildocs.example.org/", False),
        ("docs.example.org", "https://docs.example.org\\@evil.example/", False),
        ("*.example.org", "https://a.b.example.org/", True),
        ("*.example.org", "https://example.org/", False),
        ("*.example.org", "https://badexample.org/", False),
        ("*.bücher.example", "https://x.xn--bcher-kva.example/", True),
        ("bücher.example", "https://Bücher.example/", True),
        ("*", "https://docs.example.org/", False),
        ("*.", "https://docs.example.org/", False),
        ("", "https://docs.example.org/", False),
        (",", "https://docs.example.org/", False),
    ],
)
def test_only_listed_hosts_and_ports_are_allowed(hosts, url, allowed):
    if allowed:
        AllowedHosts(hosts).check(url)
        return
    with pytest.raises((UrlNotAllowed, BadUrl)) as refusal:
        AllowedHosts(hosts).check(url)
    assert isinstance(refusal.value, BadUrl) or "PREREAD_URL_HOSTS" in refusal.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://docs.example.org/a", "gopher://docs.example.org", "docs.example.org/a", "",
        "http://", "https:///a", "http://user@docs.example.org/", "http://user:pass@docs.example.org/",
        "http://docs.example.org:x/", "http://[::1/", "javascript:alert(1)", "http://docs.example.org\0/",
    ],
)  # fmt: skip
def test_what_is_no_plain_http_url_is_refused(url):
    with pytest.raises(BadUrl):
        AllowedHosts("docs.example.org").check(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1",
        "fc00::1", "fd12::1", "fec0::1", "ff02::1", "ff0e::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
        "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_the_internets_is_not_public(address):
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111"])
def test_an_address_of_the_internet_is_public(address):
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_listed_host_at_this_machine_is_still_not_fetched_from(server, host):
    """With the real look-up: however the address is written."""
    with pytest.raises((AddressNotPublic, UrlNotAllowed, BadUrl)):
        fetch(fetcher(server, hosts=host, resolve=public_addresses), url_of(server, host=host))
    assert server.asked == []


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch):
    def both(host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in ("8.8.8.8", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(AddressNotPublic):
        public_addresses("docs.example.org", 80)


def test_a_name_that_means_nothing_is_told_as_such():
    with pytest.raises(UrlUnreachable, match="not known"):
        public_addresses("no-such-host.invalid", 80)


def test_the_connection_goes_to_the_address_that_was_checked_whatever_the_name_means_next(server, monkeypatch):
    """Rebinding: the name is looked up once, and nobody looks it up again to connect."""
    server.answers["/a.html"] = b"text"
    looked_up = []

    def once(host, port):
        looked_up.append(host)
        assert len(looked_up) == 1
        return ["127.0.0.1"]

    real = socket.create_connection
    connected = []

    def noting(address, *args, **options):
        connected.append(address[0])
        return real(address, *args, **options)

    monkeypatch.setattr(socket, "create_connection", noting)
    assert fetch(fetcher(server, resolve=once), url_of(server))[1] == b"text"
    assert (looked_up, connected) == (["docs.example.org"], ["127.0.0.1"])


def test_every_redirect_is_checked_like_the_url_itself(server):
    checked = []

    def resolve(host, port):
        checked.append(host)
        if host == "inside.example.net":
            raise AddressNotPublic("It is not at a public address.")
        return ["127.0.0.1"]

    there = fetcher(server, resolve=resolve)
    server.answers["/a.html"] = redirect(url_of(server, "/b.html", "www.example.net"))
    server.answers["/b.html"] = redirect("c.html", 308)
    server.answers["/c.html"] = b"text"
    assert fetch(there, url_of(server))[1] == b"text"
    assert checked == ["docs.example.org", "www.example.net", "www.example.net"]
    for to, refusal in (
        (url_of(server, "/x", "evil.example"), UrlNotAllowed),
        ("http://127.0.0.1/x", UrlNotAllowed),
        ("http://169.254.169.254/latest/meta-data", UrlNotAllowed),
        (url_of(server, "/x", "inside.example.net"), AddressNotPublic),
        ("file:///etc/passwd", BadUrl),
        (f"http://user:pass@docs.example.org:{server.port}/", BadUrl),
        ("//evil.example/x", UrlNotAllowed),
        ("http://[::1", BadUrl),
    ):
        server.answers["/a.html"] = redirect(to)
        with pytest.raises(refusal):
            fetch(there, url_of(server))


def test_at_most_five_redirects_are_followed(server):
    for n in range(7):
        server.answers[f"/{n}"] = redirect(f"/{n + 1}")
    server.answers["/7"] = b"text"
    assert fetch(fetcher(server), url_of(server, "/2"))[1] == b"text"
    server.asked.clear()
    with pytest.raises(UrlUnreadable, match="5 times"):
        fetch(fetcher(server), url_of(server, "/1"))
    assert len(server.asked) == 6


def test_a_proxy_of_the_environment_is_not_used(server, monkeypatch):
    server.answers["/a.html"] = b"text"
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert fetch(fetcher(server), url_of(server))[1] == b"text"


@pytest.mark.parametrize("status", [204, 206, 304, 400, 401, 404, 500, 503])
def test_an_answer_that_is_no_document_is_an_error(server, status):
    server.answers["/a.html"] = lambda handler: respond(handler, status, b"")
    with pytest.raises(UrlRefused, match=str(status)):
        fetch(fetcher(server), url_of(server))


def chunked(handler, pieces):
    handler.send_response(200)
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for piece in pieces:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")


def test_the_size_is_limited_whatever_the_server_says_of_it(server):
    there = fetcher(server, limit=1000)
    server.answers["/a.html"] = b"x" * 1000
    assert len(fetch(there, url_of(server))[1]) == 1000
    for answer in (b"x" * 1001, lambda handler: chunked(handler, [b"x" * 600, b"x" * 600])):
        server.answers["/a.html"] = answer
        with pytest.raises(FileTooLarge):
            fetch(there, url_of(server))


def packed(data, encoding="gzip"):
    return lambda handler: respond(handler, 200, data, content_encoding=encoding)


def test_packed_answers_are_unpacked_and_limited_by_what_they_unpack_to(server):
    server.answers["/a.html"] = packed(gzip.compress(b"text"))
    assert fetch(fetcher(server), url_of(server))[1] == b"text"
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 100_000
    server.answers["/a.html"] = packed(bomb)
    with pytest.raises(FileTooLarge):
        fetch(fetcher(server), url_of(server))


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (gzip.compress(b"text" * 99)[:-20], "gzip"),
        (b"not packed at all", "gzip"),
        (zlib.compress(b"text"), "deflate"),
        (gzip.compress(gzip.compress(b"text")), "gzip, gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x0b\x02\x80text\x03", "br"),
    ],
    ids=["cut off", "not packed", "deflate", "twice", "zstd", "brotli"],
)
def test_what_is_cut_off_damaged_or_packed_otherwise_is_refused(server, data, encoding):
    server.answers["/a.html"] = packed(data, encoding)
    with pytest.raises(UrlUnreadable):
        fetch(fetcher(server), url_of(server))


def test_an_answer_that_breaks_off_is_an_error(server):
    def short(handler):
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"half")

    server.answers["/a.html"] = short
    with pytest.raises(UrlUnreachable):
        fetch(fetcher(server), url_of(server))


@pytest.mark.parametrize("part", ["nothing", "head", "body"])
def test_a_server_that_drips_does_not_last_longer_than_the_time(server, part):
    def dripping(handler):
        if part == "body":
            handler.send_response(200)
            handler.send_header("content-length", "1000000")
            handler.end_headers()
        while not server.stopping.wait(0.01):
            if part != "nothing":
                handler.wfile.write(b"x")
                handler.wfile.flush()

    server.answers["/a.html"] = dripping
    failed = []

    def run():
        try:
            fetch(fetcher(server, seconds=0.3), url_of(server))
        except UrlUnreachable as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert failed, "it still waits"
    assert "PREREAD_URL_SECONDS" in failed[0].hint


def test_the_time_is_one_for_all_redirects(server):
    def slow(handler):
        server.stopping.wait(0.2)
        redirect("/a.html")(handler)

    server.answers["/a.html"] = slow
    with pytest.raises(UrlUnreachable, match="too long"):
        fetch(fetcher(server, seconds=0.5), url_of(server))
    assert len(server.asked) < 5


def test_a_host_where_nothing_listens_is_unreachable():
    with serving() as server:
        there, url = fetcher(server), url_of(server)
    with pytest.raises(UrlUnreachable):
        fetch(there, url)


def test_a_certificate_must_be_trusted_and_the_names_own(tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "docs.example.org")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("docs.example.org")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "server.pem"
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)
    asked_for = []
    tls.sni_callback = lambda _socket, host, _context: asked_for.append(host)
    with serving(tls) as server:
        with pytest.raises(UrlUnreachable, match="certificate"):
            fetch(fetcher(server), url_of(server).replace("http:", "https:"))
        assert server.asked == []
    assert asked_for == ["docs.example.org"], "its name is asked for, though the address is connected to"


def test_time_that_is_over_before_it_began_asks_nobody(server):
    late = fetcher(server, seconds=-1)
    with pytest.raises(UrlUnreachable):
        fetch(late, url_of(server))
    assert server.asked == []


def test_unpacking_takes_no_more_memory_than_a_piece() -> None:
    pieces = [len(piece) for piece in decoded([gzip.compress(b"\0" * 5_000_000)], "gzip")]
    assert sum(pieces) == 5_000_000
    assert max(pieces) <= 1 << 16
