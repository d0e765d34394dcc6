"""English, German, French and Japanese in every encoding that they are written in, short and long."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import UndecodableText, UnknownType
from retrieval.parsing import parse
from retrieval.parsing.decoding import decode

UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
BIG_ENDIAN = {"utf-16-be": codecs.BOM_UTF16_BE, "utf-32-be": codecs.BOM_UTF32_BE}
JAPANESE = ["cp932", "shift_jis", "euc_jp", "iso2022_jp"]
WESTERN = ["latin-1", "cp1252"]

ENGLISH_TEXT = (
    "The bridge was built in 1932. It is 503 metres long, and its arch is the widest of all; it cost a fortune."
)
GERMAN_TEXT = (
    "Die Größe der Brücke beträgt 503 Meter. Über den Fluss führen fünf Straßen, natürlich auch für Fußgänger. "
    "Später eingereichte Anträge können nicht berücksichtigt werden."
)
FRENCH_TEXT = (
    "Le pont a été construit en 1932. Les employés ont droit à vingt-cinq jours de congé payé par année; la demande "
    "doit être déposée à l'avance auprès du responsable. Noël à l'hôtel."
)
JAPANESE_TEXT = (
    "橋は一九三二年に建てられました。長さは五百三メートルで、建設費は六百二十五万ポンドでした。"
    "休暇の申請はお早めに、所属部署の担当者までお願いします。データベースの利用は無料です。"
)

SAMPLES = [
    *((text, encoding) for text in ("Opening hr", ENGLISH_TEXT) for encoding in [*UNICODE, *WESTERN, *JAPANESE]),
    *(
        (text, encoding)
        for text in ("Größe: 5 m", "Straße 12a", "für Ärzte.", GERMAN_TEXT, "déjà reçu.", "où est né", FRENCH_TEXT)
        for encoding in [*UNICODE, *WESTERN]
    ),
    *((f"{text}€ — “x”", "cp1252") for text in (GERMAN_TEXT, FRENCH_TEXT)),
    *(
        (text, encoding)
        for text in (
            "旅費の申請について", "東京都千代田区霞が関", "休暇は二十日間です。", "データベース一覧",
            "第一条　目的と範囲", "会議室予約表", "電話番号", "2024年度 売上", "株式会社山田製作所", JAPANESE_TEXT,
        )
        for encoding in [*UNICODE, *JAPANESE]
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "encoding"), SAMPLES)
def test_a_text_is_read_as_it_was_written(text: str, encoding: str) -> None:
    assert parse(text.encode(encoding), "notes.txt").text == text


@pytest.mark.parametrize("encoding", BIG_ENDIAN)
def test_a_byte_order_mark_is_obeyed_and_not_kept(encoding: str) -> None:
    assert parse(BIG_ENDIAN[encoding] + JAPANESE_TEXT.encode(encoding), "notes.txt").text == JAPANESE_TEXT


@st.composite
def pieces(draw: st.DrawFn) -> tuple[str, str]:
    text, encodings = draw(
        st.sampled_from(
            [
                (ENGLISH_TEXT, [*UNICODE, *WESTERN, *JAPANESE]),
                (GERMAN_TEXT, [*UNICODE, *WESTERN]),
                (FRENCH_TEXT, [*UNICODE, *WESTERN]),
                (JAPANESE_TEXT, [*UNICODE, *JAPANESE]),
            ]
        )
    )
    start = draw(st.integers(0, len(text) - 10))
    return text[start : start + draw(st.integers(10, 60))], draw(st.sampled_from(encodings))


@settings(max_examples=500)
@given(pieces())
def test_a_piece_of_ten_characters_or_more_is_read_right_or_refused(piece: tuple[str, str]) -> None:
    text, encoding = piece
    try:
        assert decode(text.encode(encoding), "piece.txt") == text
    except UndecodableText:
        assert encoding not in UNICODE[:3]


@given(st.binary(min_size=64, max_size=512))
def test_whatever_bytes_come_only_text_or_a_reason_goes_out(data: bytes) -> None:
    try:
        text = decode(data, "bytes")
    except (UndecodableText, UnknownType):
        return
    assert text.encode("utf-8")
    assert text.count("\ufffd") <= 0.05 * len(text)
