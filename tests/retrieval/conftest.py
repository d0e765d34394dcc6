"""What the tests of retrieval share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from app.core.settings import PACKAGED_EMBEDDING_MODEL
from retrieval.embedding import Embedder
from retrieval.qdrant_index import QdrantIndex

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


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
def model_folder(byte_level_bpe: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a language model's tokenizer, as models are published."""
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    fast = PreTrainedTokenizerFast(tokenizer_object=byte_level_bpe, eos_token="<|im_end|>", chat_template=CHAT_TEMPLATE)
    fast.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return Embedder(PACKAGED_EMBEDDING_MODEL)


@pytest.fixture
def local_index(tmp_path: Path) -> Iterator[QdrantIndex]:
    """An index of vectors with three numbers."""
    index = QdrantIndex.open_local(tmp_path / "qdrant", 3)
    yield index
    index.close()
