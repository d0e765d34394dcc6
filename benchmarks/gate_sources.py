"""What the gate asks about: question sets by path, or the user's own documents."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import BadInput
from app.core.settings import Settings
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Asked, in_context
from benchmarks.datasets import Question, QuestionSet, load_questions
from benchmarks.documents import OwnChunk, chunks_of_folder, chunks_of_service
from benchmarks.made_up import made_up
from generator.engine import EngineClient


@dataclass(frozen=True)
class Sources:
    """`sets` by name; `text`: a folder of the user's; `service`: the documents of the running service."""

    sets: dict[str, list[Question]]
    text: Path | None
    service: bool

    @classmethod
    def named(
        cls, data: Sequence[Path], names: Sequence[QuestionSet], text: Path | None, *, service: bool
    ) -> "Sources":
        """Reads the question sets. Raises BadInput where nothing or no pairs are named, BadData for a wrong file."""
        if len(data) != len(names):
            raise BadInput(
                f"{len(data)} folders and {len(names)} sets are named.", "Give --data and --set once for each set."
            )
        if not (data or text or service):
            raise BadInput(
                "There is nothing to ask about.", "Give --data with --set, or --documents, or --text FOLDER."
            )
        return cls(
            {str(name): load_questions(name, folder) for folder, name in zip(data, names, strict=True)}, text, service
        )

    def questions(
        self, engine: BenchEngine, settings: Settings, *, n: int, chunks: int, chunk_tokens: int
    ) -> dict[str, list[Asked]]:
        """Up to `n` questions of every source, each with its chunks. Raises BadData, EngineFailed."""
        asked = {
            name: [in_context(question, engine.tokenizer, chunks, chunk_tokens) for question in questions[:n]]
            for name, questions in self.sets.items()
        }
        if self.text:
            own = chunks_of_folder(self.text, engine.tokenizer, chunk_tokens)
            asked["text"] = asyncio.run(_make_up(engine, own, n, chunks))
        if self.service:
            asked["documents"] = asyncio.run(_make_up(engine, chunks_of_service(settings), n, chunks))
        return asked


async def _make_up(engine: BenchEngine, own: Sequence[OwnChunk], n: int, chunks: int) -> list[Asked]:
    client = EngineClient(engine.client.url)
    try:
        return await made_up(engine, client, own, n, chunks)
    finally:
        await client.aclose()
