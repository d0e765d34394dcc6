"""The errors of `kernels`.

    BadInput
    └── BadShape    an array does not have the shape or dtype the function states
"""

from app.core.errors import BadInput


class BadShape(BadInput):
    code = "bad_shape"
