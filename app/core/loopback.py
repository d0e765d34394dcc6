"""Whether an address is this machine's own, which nobody else reaches."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
