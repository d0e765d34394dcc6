"""Where a host is, as far as that is a public place."""

import ipaddress
import socket

from app.web.fetching.errors import AddressNotPublic, UrlUnreachable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")  # holds an IPv4 address, which may be a private one


def is_public(address: Address) -> bool:
    """Whether an address is one of the Internet's, for one host: not private, local, shared, reserved or multicast."""
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or (isinstance(address, ipaddress.IPv6Address) and (address.is_site_local or address in _SIX_TO_FOUR))
    )


def public_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, none of them private. Raises: UrlUnreachable, AddressNotPublic."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UrlUnreachable(f"The host {host} is not known: {error}") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses or not all(is_public(ipaddress.ip_address(address)) for address in addresses):
        raise AddressNotPublic(f"The host {host} is not at a public address.", "Only public hosts are fetched from.")
    return addresses
