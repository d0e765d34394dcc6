"""A folder that is kept in step, and short words for what became of it."""

import os
from datetime import UTC, datetime, timedelta

from workers.ingest import ingest

TENANT = "default"
OLD = 1_700_000_000


class Folder:
    """A folder in which files are old enough for their times to be believed."""

    def __init__(self, root):
        self.root = root
        self._ticks = iter(range(10**6))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.touch(name)

    def touch(self, name):
        seconds = OLD + next(self._ticks)
        os.utime(self.root / name, (seconds, seconds))

    def fill(self, count):
        for n in range(count):
            self.write(f"{n:02}.md", f"Rule {n} of them all is short.")


def did(report):
    names = ("added", "changed", "known", "renamed", "removed", "unchanged", "later", "to_remove")
    return {name: report[name] for name in names if report[name]}


def listed(context):
    return {document.name: document for document in context.catalog.list_documents(TENANT, 500).items}


def text_of(context, name):
    """The text that answers questions, once a worker has been at it."""
    document = listed(context)[name]
    ingest(document.id, context)
    current = context.catalog.get_document(TENANT, document.id).current_version_id
    return "".join(chunk.text for chunk in context.catalog.chunks_of(current))


def bytes_of(context, name):
    """The file that a worker will read, or has read last."""
    document = listed(context)[name]
    version = context.catalog.get_version(document.pending_version_id or document.current_version_id)
    return context.files.read(TENANT, document.id, version.sha256)


def an_hour_later():
    return datetime.now(UTC) + timedelta(hours=1)
