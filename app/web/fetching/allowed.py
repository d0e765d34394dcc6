"""Which URLs may be fetched."""

from dataclasses import dataclass

import httpx

from app.web.fetching.errors import BadUrl, UrlNotAllowed

_PORTS = {"http": 80, "https": 443}
_HINT = "PREREAD_URL_HOSTS lists the hosts that documents may be fetched from."


@dataclass(frozen=True)
class AllowedHosts:
    """The setting `url_hosts`: `host`, `*.host` for all below it, either with `:port`; with commas between."""

    hosts: str

    def check(self, url: str, base: httpx.URL | None = None) -> httpx.URL:
        """The URL as it is to be asked for, without its fragment; it may be relative to `base`, if there is one.

        Raises: BadUrl, UrlNotAllowed.
        """
        try:
            found = httpx.URL(url.strip()) if base is None else base.join(url.strip())
            parsed = found.copy_with(fragment=None)
        except httpx.InvalidURL as error:
            raise BadUrl(f"That is no URL: {error}") from error
        if parsed.scheme not in _PORTS or not parsed.host:
            raise BadUrl("Only http and https URLs are fetched.")
        if parsed.userinfo:
            raise BadUrl("The URL has a user name or a password in it.", "Leave them out.")
        host = parsed.raw_host.decode("ascii").lower()
        port = parsed.port or _PORTS[parsed.scheme]
        if not any(_fits(host, port, _PORTS[parsed.scheme], entry) for entry in self._entries()):
            raise UrlNotAllowed(f"{parsed.netloc.decode('ascii')} is not a host to fetch documents from.", _HINT)
        return parsed

    def _entries(self) -> list[str]:
        return [entry for each in self.hosts.split(",") if (entry := each.strip().lower())]


def _fits(host: str, port: int, usual_port: int, entry: str) -> bool:
    name, colon, number = entry.rpartition(":")
    if not colon or not number.isdigit():
        name, number = entry, str(usual_port)
    below = name.startswith("*.")
    try:
        wanted = httpx.URL(scheme="http", host=name.removeprefix("*.")).raw_host.decode("ascii").lower()
    except httpx.InvalidURL:
        return False
    return port == int(number) and (host.endswith(f".{wanted}") if below else host == wanted)
