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

from app.core.errors import BadInput


class BadUrl(BadInput):
    code = "bad_url"


class UrlNotAllowed(BadInput):
    code = "url_not_allowed"
    status = 403


class AddressNotPublic(BadInput):
    code = "address_not_public"
    status = 403


class UrlUnreachable(BadInput):
    code = "url_unreachable"


class UrlRefused(BadInput):
    code = "url_refused"


class UrlUnreadable(BadInput):
    code = "url_unreadable"
