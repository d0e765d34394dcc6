"""Pages to play with: real ones, each revision with a mark of its own that is found nowhere else."""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random

from retrieval.parsing import parse

_FEWEST_CHARACTERS, _MOST_CHARACTERS = 800, 4000
_HEADING = re.compile(r"^#+\s+(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """`revision`: from 0; each has other bytes under the same name. `body`: as it lies in the folder."""

    name: str
    body: str
    revision: int = 0

    @property
    def mark(self) -> str:
        return f"filed-{sha256(f'{self.name} {self.revision}'.encode()).hexdigest()[:16]}"

    @property
    def data(self) -> bytes:
        return f"{self.body.strip()}\n\nRevision {self.revision} of this page, {self.mark}.\n".encode()

    @property
    def sha256(self) -> str:
        return sha256(self.data).hexdigest()

    @property
    def question(self) -> str:
        title, *others = _HEADING.findall(self.body)
        return f"What is said about {others[0] if others else title} in {title}?"

    @property
    def text(self) -> str:
        """What citations count in."""
        return _text(self)


@lru_cache(maxsize=2000)
def _text(page: Page) -> str:
    return parse(page.data, page.name).text


def pages_in(folder: Path, count: int, seed: int) -> list[Page]:
    """`count` Markdown pages with headings out of a folder, neither short nor long. Raises ValueError: too few."""
    found = []
    for path in sorted(folder.rglob("*.md")):
        body = path.read_text(errors="replace")
        if _FEWEST_CHARACTERS <= len(body) <= _MOST_CHARACTERS and _HEADING.search(body):
            found.append(Page(path.relative_to(folder).as_posix(), body))
    if len(found) < count:
        raise ValueError(f"{folder} has {len(found)} pages of a fitting size, not {count}.")
    return Random(seed).sample(found, count)
