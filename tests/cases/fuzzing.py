"""Files of every kind, damaged at random: a process that reads many of them, one after the other."""

import random
import resource
from collections.abc import Callable
from io import BytesIO
from zipfile import ZipFile

from archive_samples import epub_bytes, sheet_bytes, slides_bytes, with_member, word_bytes
from pdf_samples import pdf_bytes

from retrieval.errors import FileRefused
from retrieval.parsing import parse

MAIL = (
    b"From: a@b.c\r\nTo: d@e.f\r\nSubject: Ferry\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/mixed; boundary=x\r\n\r\n"
    b"--x\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"The ferry =C3=A9 leaves.\r\n--x\r\nContent-Type: text/html; charset=iso-8859-1\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\nPGI+aGVsbG88L2I+\r\n--x\r\n"
    b"Content-Disposition: attachment; filename*=UTF-8''a%20b\r\nContent-Type: message/rfc822\r\n\r\n"
    b"Subject: inner\r\n\r\nText\r\n--x--\r\n"
)
PAGE = (
    "<html><head><meta charset=utf-8><title>T</title></head><body><h1>Hé</h1><table><tr><th>a<th>b<tr><td colspan=2>1"
    "</table><pre>x\n y</pre><p>Text</body></html>"
)
MARKDOWN = "---\ntitle: x\n---\n# Hé\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n> - [l](u)\n\n```\ncode\n```\n"
RST = (
    "Title\n=====\n\n.. table::\n\n   == ==\n   a  b\n   == ==\n   1  2\n   == ==\n\n"
    ".. |x| replace:: y\n\n|x| `l <u>`_ é\n"
)
SAMPLES: dict[str, bytes] = {
    "a.pdf": pdf_bytes("The bridge was built in 1932.", "Second page."),
    "a.docx": word_bytes("One paragraph.", "Two."),
    "a.xlsx": sheet_bytes(["a", "b"], [1, 2.5], ["x", None]),
    "a.pptx": slides_bytes("One", "Two"),
    "a.epub": epub_bytes({"1.xhtml": "<h1>One</h1><p>Text.</p>", "2.xhtml": "<p>More.</p>"}, "Book"),
    "a.html": PAGE.encode(),
    "a.md": MARKDOWN.encode(),
    "a.rst": RST.encode(),
    "a.csv": 'nr;näme;city\n1;Ann;"Köln, ""x"""\n2;Bob;\n'.encode(),
    "a.json": '{"a": [1, 2.5, {"b": "é\\u00e9"}], "c": null}'.encode(),
    "a.eml": MAIL,
    "a.txt": "Tickets cost 12 £ « für Fußgänger.\n".encode("cp1252"),
}
_ODDITIES = (
    b"\0",
    b"\xff\xff\xff\xff",
    b"9999999999",
    b"-1",
    b"<",
    b"[",
    b"(",
    b'"',
    b"%s",
    b"\x1b$B",
    b"../",
    b"%PDF-1.7",
)
_MEMORY_BYTES = 4 << 30


def damaged(name: str, seed: int) -> bytes:
    """The sample, damaged in a way that the seed decides; of archives every second time inside of a member."""
    rng, data = random.Random(f"{name} {seed}"), SAMPLES[name]
    if data.startswith(b"PK") and seed % 2:
        with ZipFile(BytesIO(data)) as archive:
            member = rng.choice(archive.namelist())
            content = archive.read(member)
        return with_member(data, member, _damage(content, rng))
    return _damage(data, rng)


def read_damaged(name: str, seeds: range) -> dict[str, int]:
    """How often each outcome was: `read`, the code of a refusal, or what should never be raised."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    outcomes: dict[str, int] = {}
    for seed in seeds:
        try:
            parse(damaged(name, seed), name).text.encode()
            outcome = "read"
        except FileRefused as refusal:
            outcome = refusal.code
        except MemoryError:
            outcome = "out_of_memory"
        except Exception as error:  # noqa: BLE001
            outcome = f"seed {seed}: {error!r}"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


def _damage(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if data:
            start = rng.randrange(len(data))
            end = min(len(data), start + rng.choice((1, 2, 8, 64, 512)))
            data = rng.choice(_DAMAGES)(data, start, end, rng)
    return data


_Damage = Callable[[bytes, int, int, random.Random], bytes]
_DAMAGES: tuple[_Damage, ...] = (
    lambda data, start, _, rng: data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :],
    lambda data, start, _, rng: data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :],
    lambda data, start, end, _: data[:start] + data[end:],
    lambda data, start, end, rng: data[:start] + data[start:end] * rng.choice((2, 3, 50)) + data[end:],
    lambda data, start, end, rng: data[:start] + rng.randbytes(end - start) + data[end:],
    lambda data, start, *_: data[:start],
    lambda data, start, _, rng: data[:start] + rng.choice(_ODDITIES) + data[start:],
    lambda data, start, end, rng: data[:start] + _piece_of_another(rng) + data[end:],
)


def _piece_of_another(rng: random.Random) -> bytes:
    other = rng.choice(list(SAMPLES.values()))
    start = rng.randrange(len(other))
    return other[start : start + 64]
