"""Conditioning passages by name: what a chunk may be pre-read behind."""

import random
import re
from dataclasses import dataclass

from app.core.errors import BadInput
from benchmarks.corpus import HANDBOOK
from generator.chat import ChatTokenizer
from generator.conditioning import NEUTRAL_TEXT

TOWN = (
    "The town lies on the northern bank of the river, about forty kilometres from the coast. It was founded in the "
    "twelfth century as a trading post and received market rights in 1284. For several hundred years wool and grain"
    " were its main goods; a bridge, first built of timber and replaced by a stone one in 1731, made it the usual "
    "crossing for merchants on their way south. The population grew quickly after the railway arrived in 1867, and "
    "two mills, a brewery and a paper works were opened within ten years. Today the town has about 23,000 "
    "inhabitants. Its old centre, with the church of Saint Nicholas and the former customs house, is protected, and"
    " a museum shows tools and documents from the region. A market is held every Thursday, and in September a fair "
    "brings visitors from the neighbouring villages."
)
TREE = (
    "The common alder is a medium-sized tree that grows along streams and in wet woodland across most of the "
    "continent. It rarely lives longer than 120 years and reaches a height of 20 to 25 metres. The leaves are round"
    " and slightly notched at the tip; they stay green until they fall in late autumn. Its roots carry bacteria "
    "that take nitrogen from the air, so the tree can settle on poor soil and improves it for other plants. The "
    "wood is soft, and it lasts very long under water, which is why it was used for piles, sluices and pumps. Small"
    " birds feed on the seeds in winter. In some regions the bark was used to dye leather and cloth."
)
LENSES = (
    "A lens bends light because light travels more slowly in glass than in air. Early lenses were ground by hand "
    "from rock crystal and served as burning glasses or as aids for reading. In the thirteenth century craftsmen "
    "began to mount two of them in a frame, and by the end of the sixteenth century several makers combined lenses "
    "in a tube to enlarge distant objects. Single lenses show coloured edges, since each colour is bent by a "
    "different amount. The remedy, found in the eighteenth century, was to join two kinds of glass whose errors "
    "cancel each other. Modern lenses are computed by machine, coated against reflection, and often made of "
    "plastic."
)
META = "Other passages of the same collection were shown here before this one; they are about different subjects."
_PROSE = (TOWN, TREE, LENSES)
_NAME = re.compile(r"([a-z]+)(\d*)(?:/(number|blank|none))?(?:/(all|chain))?")


@dataclass(frozen=True)
class PassageName:
    """A reading as written: `alone`, or KIND[TOKENS][/SEPARATOR][/NUMBERS].

    Kinds with text of their own: `town`, `tree`, `lenses` (that paragraph first), `handbook`, `meta`, `list`
    (numbered passages as in the prompt), `newlines`, `noise` (random tokens), `product` (what ships with it).
    Kinds that depend on the prompt: `document` (the text before the chunk in its own document), `neighbour` (the
    prompt's chunk before it). `mean`: the KV averaged over `town`, `tree` and `lenses`. `gap`: no text, the chunk's
    positions start at TOKENS; `towngap`: `town170` with the chunk's positions starting at TOKENS.
    The separator stands before the chunk: `number` ("\\n\\n[2] ", unless given), `blank` ("\\n\\n") or `none`.
    The numbers between chunks, where they are reused, were read behind the preamble alone; with `/all` behind the
    passage as well; with `/chain` all in one prefill, each behind as many passages as in the prompt.
    """

    kind: str
    tokens: int
    separator: str
    numbers: str

    @property
    def in_prompt(self) -> bool:
        return self.kind in {"document", "neighbour"}


def parse_passage(text: str) -> PassageName:
    """Raises BadInput."""
    found = _NAME.fullmatch(text)
    if not found or found[1] not in _KINDS:
        raise BadInput(f"“{text}” is not a reading.", f"Use one of {', '.join(sorted(_KINDS))}, with a length.")
    return PassageName(found[1], int(found[2] or 170), found[3] or "number", found[4] or "alone")


def separator_ids(tokenizer: ChatTokenizer, name: PassageName) -> list[int]:
    return tokenizer.encode({"number": "\n\n[2] ", "blank": "\n\n", "none": ""}[name.separator])


def passage_ids(tokenizer: ChatTokenizer, kind: str, tokens: int) -> list[int]:
    """`tokens` token ids of a kind with text of its own (`meta`: as many as it has)."""
    if kind == "meta":
        return tokenizer.encode(META)
    if kind == "newlines":
        return (tokenizer.encode("\n") * tokens)[:tokens]
    if kind == "noise":
        words = tokenizer.encode(" ".join(_PROSE))
        random.Random(0).shuffle(words)  # noqa: S311 - sampling, not secrecy
        return (words * (tokens // len(words) + 1))[:tokens]
    text = _long_text(kind)
    ids = tokenizer.encode(text)
    return (ids * (tokens // len(ids) + 1))[:tokens]


def _long_text(kind: str) -> str:
    if kind == "handbook":
        return "\n\n".join(path.read_text() for path in sorted(HANDBOOK.glob("*.md")))
    if kind == "list":
        return "".join(f"{'' if at == 0 else f'[{at + 1}] '}{text}\n\n" for at, text in enumerate(_PROSE))
    if kind == "product":
        return "\n\n".join((NEUTRAL_TEXT, *_PROSE))
    first = {"town": 0, "tree": 1, "lenses": 2}[kind]
    return "\n\n".join((*_PROSE[first:], *_PROSE[:first]))


_KINDS = frozenset(
    {
        "alone",
        "document",
        "gap",
        "handbook",
        "lenses",
        "list",
        "mean",
        "meta",
        "neighbour",
        "newlines",
        "noise",
        "product",
        "town",
        "towngap",
        "tree",
    }
)
MEAN_OF = ("town", "tree", "lenses")
