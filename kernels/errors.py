"""The errors of `kernels`.

BadInput
├── BadShape     an array does not have the shape, dtype or range a function states
└── BadStream    an entropy-coded stream does not end where its encoder began
"""

from app.core.codes import Code
from app.core.errors import BadInput


class BadShape(BadInput):
    code = Code.BAD_SHAPE


class BadStream(BadInput):
    code = Code.BAD_STREAM
