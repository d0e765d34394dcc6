"""One section's entropy-coded symbols."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Encoded:
    """states: (lanes,) uint32, where decoding begins. words: (words,) uint16, in the order they are read."""

    states: NDArray[np.uint32]
    words: NDArray[np.uint16]


__all__ = ["Encoded"]
