"""The errors of `kernels`.

BadInput
├── BadShape     an array does not have the shape, dtype or range a function states
└── BadStream    an entropy-coded stream does not end where its encoder began
"""

from app.core.errors import BadInput


class BadShape(BadInput):
    code = "bad_shape"


class BadStream(BadInput):
    code = "bad_stream"
