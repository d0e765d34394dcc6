"""A list of URLs added as documents. Blocking: routes call it in a thread."""

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from app.core.catalog import LabelKind, labels_from
from app.web.access.audit import Audit
from app.web.fetching.allowed import AllowedHosts
from app.web.fetching.fetch import Fetcher
from app.web.library import Library
from app.web.problems import problem_of
from app.web.schemas.urls import UrlAdded, UrlsAdded, UrlsIn
from app.web.services import Services

log = logging.getLogger(__name__)

_AT_ONCE = 8
_LONGEST_MEDIA_TYPE = 100


class UrlList:
    def __init__(self, services: Services, tenant: str, audit: Audit, fetcher: Fetcher | None = None) -> None:
        settings = services.settings
        self._library = Library(services, tenant, audit)
        self._fetcher = fetcher or Fetcher(
            AllowedHosts(settings.url_hosts), settings.url_seconds, settings.max_upload_bytes
        )

    def add(self, wanted: UrlsIn) -> UrlsAdded:
        """Each URL by itself: one that fails does not keep the others. Raises: BadLabel."""
        labels_from(wanted.collections, LabelKind.COLLECTION)
        labels_from(wanted.tags, LabelKind.TAG)
        urls = list(dict.fromkeys(wanted.urls))
        with ThreadPoolExecutor(min(_AT_ONCE, len(urls))) as threads:
            return UrlsAdded(items=list(threads.map(partial(self._add, wanted=wanted), urls)))

    def _add(self, url: str, wanted: UrlsIn) -> UrlAdded:
        try:
            name = str(self._fetcher.allowed.check(url))
            with self._fetcher.fetch(url) as fetched:
                media_type = fetched.media_type[:_LONGEST_MEDIA_TYPE] or None
                added = self._library.add(name, fetched.body, wanted.collections, wanted.tags, media_type)
        except Exception as error:
            problem = problem_of(error, url)
            if problem.code == "internal_error":
                log.exception("%s was not added", url)
            return UrlAdded(url=url, error=problem)
        return UrlAdded(url=url, document=added.document, created=added.created)
