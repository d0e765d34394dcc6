"""Questions that the model makes up about the user's own chunks, for documents that nobody wrote questions for."""

from collections.abc import Sequence
from random import Random

from benchmarks.answer import ask
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Asked
from benchmarks.datasets import Question
from benchmarks.documents import OwnChunk
from benchmarks.errors import BadData
from benchmarks.tenants import own_tenant
from benchmarks.variant import EXACT
from generator.engine import EngineClient, Sampling
from generator.fusion_request import Segment, SegmentKind
from generator.prompt import Prompt

_SYSTEM = "You write questions about texts."
_TASK = "\n\nWrite one short question that this text answers. Write nothing but the question."
_SAMPLING = Sampling(max_tokens=40)
_SEED = 17


async def made_up(
    engine: BenchEngine, client: EngineClient, chunks: Sequence[OwnChunk], n: int, per_question: int
) -> list[Asked]:
    """Up to `n` questions, each about one chunk, put among others of the documents; the same on every run.

    Chunks about which the model has nothing to ask are passed over. Raises BadData when that leaves no question.
    """
    draw = Random(_SEED)  # noqa: S311
    found: list[Asked] = []
    for chunk in draw.sample(chunks, len(chunks)):
        if len(found) == n:
            break
        if text := await _question(engine, client, chunk):
            others = [other.piece for other in draw.sample(chunks, min(per_question, len(chunks)))]
            pieces = [chunk.piece, *(piece for piece in others if piece != chunk.piece)][:per_question]
            draw.shuffle(pieces)
            found.append(Asked(Question(chunk.name, text, ()), tuple(pieces)))
    if not found:
        raise BadData("The model made up no question about these documents.", "Use --data and --set instead.")
    return found


async def _question(engine: BenchEngine, client: EngineClient, chunk: OwnChunk) -> str:
    frame = engine.tokenizer.frame(_SYSTEM)
    ids = [*frame.head, *chunk.piece.ids, *engine.tokenizer.encode(_TASK), *frame.tail]
    segments = (Segment(0, len(frame.head), SegmentKind.PREAMBLE),)
    answer = await ask(client, Prompt(ids, segments), EXACT, own_tenant(), _SAMPLING)
    return first_question(answer.text)


def first_question(text: str) -> str:
    """The first line with words, up to its question mark; empty where there are no words."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    question, mark, _ = line.partition("?")
    return f"{question.strip()}{mark}" if question.strip() else ""
