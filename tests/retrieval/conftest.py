"""What the tests of retrieval share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from index_kinds import KINDS
from qdrant_server import QdrantServer
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from app.core.settings import PACKAGED_EMBEDDING_MODEL
from retrieval.embedding import Embedder
from retrieval.index import ChunkIndex
from retrieval.qdrant_index import QdrantIndex


@pytest.fixture(scope="session")
def byte_level_bpe() -> Tokenizer:
    """A small tokenizer of the kind language models have, with merges over blanks and line ends."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)],
        show_progress=False,
    )
    lines = [
        "The bridge was built in 1932. It is long.\n\n## The harbour\n",
        "橋は一九三二年に建てられました。長いです。",
    ]
    tokenizer.train_from_iterator(lines * 20, trainer)
    return tokenizer


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return Embedder(PACKAGED_EMBEDDING_MODEL)


@pytest.fixture
def local_index(tmp_path: Path) -> Iterator[QdrantIndex]:
    """An index of vectors with three numbers."""
    index = QdrantIndex.open_local(tmp_path / "qdrant", 3, "a-model")
    yield index
    index.close()


@pytest.fixture(params=KINDS)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChunkIndex]:
    """An empty index of each kind, of vectors with three numbers."""
    with KINDS[request.param](tmp_path / "index") as index:
        yield index


@pytest.fixture
def qdrant_server() -> Iterator[QdrantServer]:
    server = QdrantServer()
    yield server
    server.stop()
