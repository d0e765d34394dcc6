"""Why a document was not fetched from its URL.

PrereadError
└── BadInput
    ├── BadUrl               no http or https URL, or one with credentials in it
    ├── UrlNotAllowed        its host, or one it leads to, is not among those that are allowed
    ├── AddressNotPublic     its host is at an address that is private, this machine's, or otherwise not public
    ├── UrlUnreachable       there is no answer, a broken one, or none in time
    ├── UrlRefused           the answer is an error
    └── UrlUnreadable        it leads round and round, or is encoded in a way that is not read
"""

from app.core.codes import Code
from app.core.errors import BadInput


class BadUrl(BadInput):
    code = Code.BAD_URL


class UrlNotAllowed(BadInput):
    code = Code.URL_NOT_ALLOWED
    status = 403


class AddressNotPublic(BadInput):
    code = Code.ADDRESS_NOT_PUBLIC
    status = 403


class UrlUnreachable(BadInput):
    code = Code.URL_UNREACHABLE


class UrlRefused(BadInput):
    code = Code.URL_REFUSED


class UrlUnreadable(BadInput):
    code = Code.URL_UNREADABLE
