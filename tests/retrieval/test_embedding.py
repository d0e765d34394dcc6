import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tokenizers import Tokenizer, models

from app.core.settings import PACKAGED_EMBEDDING_MODEL
from retrieval.embedding import Embedder, known_share
from retrieval.errors import EmbeddingUnavailable


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*args: object, **kwargs: object) -> None:
        pytest.fail("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return


def similarity(left: list[float], right: list[float]) -> float:
    return float(np.dot(left, right))


def test_vectors_have_length_one_and_the_models_dimension(embedder: Embedder) -> None:
    vectors = [*embedder.embed_texts(["A bridge.", "橋", "word " * 900]), embedder.embed_query("Which bridge?")]
    assert embedder.dimension == 384
    assert [len(vector) for vector in vectors] == [384] * 4
    assert [float(np.linalg.norm(vector)) for vector in vectors] == pytest.approx([1.0] * 4, abs=1e-4)


def test_a_question_is_nearest_to_the_text_that_answers_it(embedder: Embedder) -> None:
    texts = ["Employees get 25 days of holiday a year.", "The bridge was built in 1932."]
    question = embedder.embed_query("How much vacation do I have?")
    holiday, bridge = (similarity(question, vector) for vector in embedder.embed_texts(texts))
    assert holiday > bridge + 0.2


def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    filler = "The bridge over the river was painted grey again. " * 40
    with_end, without = embedder.embed_texts([filler + "Employees get 25 days of holiday. " * 20, filler])
    question = embedder.embed_query("How much holiday do employees get?")
    assert similarity(question, with_end) > similarity(question, without) + 0.2


@pytest.mark.parametrize("text", ["When was the bridge built?", "Wann wurde die Brücke gebaut?", "XQ-17B/4 manual", ""])
def test_the_packaged_model_reads_latin_letters(embedder: Embedder, text: str) -> None:
    assert embedder.reads(text)


@pytest.mark.parametrize("text", ["橋はいつ建てられましたか。", "สะพานสร้างเมื่อไร", "Когда был построен мост?", "다리"])
def test_the_packaged_model_does_not_read_other_scripts(embedder: Embedder, text: str) -> None:
    assert not embedder.reads(text)


def test_a_tokenizer_of_pieces_knows_the_script_it_has_pieces_of() -> None:
    pieces = [("<unk>", 0.0), ("\u2581", -3.0), ("橋は", -1.0), ("長い", -1.0), ("の", -2.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    assert known_share(tokenizer, "橋は長い") == 1
    assert known_share(tokenizer, "の橋は") == pytest.approx(2 / 3)
    assert known_share(tokenizer, "bridge") == 0


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_texts([]) == []


def test_threads_get_the_same_vectors(embedder: Embedder) -> None:
    texts = [f"Sentence number {number} about bridges." for number in range(8)]
    expected = embedder.embed_texts(texts)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: embedder.embed_texts([text])[0], texts))
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.usefixtures("no_network")
def test_the_packaged_model_needs_no_network() -> None:
    assert Embedder(PACKAGED_EMBEDDING_MODEL).dimension == 384


def test_a_folder_without_a_model_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("nothing")
    with pytest.raises(EmbeddingUnavailable) as raised:
        Embedder(str(folder))
    assert "PREREAD_EMBEDDING_MODEL" in raised.value.hint
