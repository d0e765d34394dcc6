"""Web's services as a worker uses them, in one process."""

from app.web.services import Services
from kvstore.codecs.codecs import Codecs
from workers.context import WorkerContext


def worker_context(services: Services, codecs: Codecs) -> WorkerContext:
    return WorkerContext(
        settings=services.settings,
        catalog=services.catalog,
        files=services.files,
        tokenizer=services.tokenizer,
        preamble=services.preamble,
        embedder=services.embedder,
        index=services.index,
        store=services.store,
        engine=services.engine,
        purge=services.purge,
        waker=services.waker,
        codecs=codecs,
    )
