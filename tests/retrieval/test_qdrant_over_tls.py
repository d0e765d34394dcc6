"""A Qdrant server behind https, with a certificate of one's own."""

import ipaddress
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from qdrant_server import QdrantServer

from retrieval.errors import IndexUnavailable
from retrieval.qdrant_index import QdrantIndex


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of 127.0.0.1, signed by itself, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "qdrant of the tests")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "server.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def server(certificate: Path) -> Iterator[QdrantServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = QdrantServer(api_key="letmein", tls=context)
    yield server
    server.stop()


def test_a_server_with_a_certificate_that_is_trusted_is_used(
    server: QdrantServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    index = QdrantIndex.connect(server.url, 3, "a-model", api_key="letmein")
    assert index.count("acme") == 0
    index.close()


def test_a_key_is_not_sent_to_a_server_whose_certificate_nobody_trusts(server: QdrantServer) -> None:
    with pytest.raises(IndexUnavailable, match="certificate"):
        QdrantIndex.connect(server.url, 3, "a-model", api_key="letmein")
    assert server.keys == set()
