"""The error of `kernels`: BadShape, an array that does not have the shape or dtype a function states."""

from app.core.errors import BadInput


class BadShape(BadInput):
    code = "bad_shape"
