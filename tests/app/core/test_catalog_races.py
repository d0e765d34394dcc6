"""What several threads and processes do at once comes out as if one came after the other."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

from catalog_rig import TENANT, Library, chunk, ids_hash
from sqlalchemy import text

from app.core.catalog import Catalog, Document, DocumentFilter, DocumentState, VersionState, WorkRefused

WORKERS = 6
ROUNDS = 8


def test_processes_that_add_the_same_bytes_make_one_document(database_url: str, catalog: Catalog) -> None:
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as processes:
        results = list(processes.map(_add_twenty, [database_url] * 3))
    for outcomes in zip(*results, strict=True):
        assert len({document_id for document_id, _ in outcomes}) == 1
        assert sum(created for _, created in outcomes) == 1
    assert catalog.list_documents(TENANT).total == 20


def test_threads_that_add_the_same_bytes_under_other_names_make_one_document(database_url: str) -> None:
    with _together(database_url) as each_does:
        for n in range(ROUNDS):
            sha256 = ids_hash(f"bytes {n}")
            added = each_does(
                lambda catalog, worker, sha256=sha256: catalog.add_document(
                    TENANT, f"{sha256} {worker}.md", sha256, "text/plain", 1
                )
            )
            assert len({document.id for document, _ in added}) == 1
            assert sum(created for _, created in added) == 1


def test_threads_that_add_other_bytes_under_one_name_make_one_document(database_url: str, catalog: Catalog) -> None:
    with _together(database_url) as each_does:
        added = each_does(
            lambda catalog, worker: catalog.add_document(TENANT, "travel.md", ids_hash(str(worker)), "text/plain", 1)
        )
    assert all(created for _, created in added)
    (document,) = catalog.list_documents(TENANT).items
    assert {found.id for found, _ in added} == {document.id}
    versions = {found.pending_version_id for found, _ in added}
    retired = {version.id for version in catalog.retired_versions(document.id)}
    assert versions == {document.pending_version_id} | retired
    assert len(versions) == WORKERS


def test_one_of_several_claimers_gets_the_document(database_url: str, catalog: Catalog, library: Library) -> None:
    with _together(database_url) as each_does:
        for n in range(ROUNDS):
            document_id = library.add(f"{n}.md").id
            claims = each_does(
                lambda catalog, worker, document_id=document_id: catalog.claim(document_id, f"worker {worker}", 60)
            )
            (winner,) = [worker for worker, claimed in enumerate(claims) if claimed]
            assert catalog.get_document(TENANT, document_id).claim_owner == f"worker {winner}"


def test_a_deletion_and_a_publication_at_once_never_leave_a_deleted_document_answering(
    database_url: str, catalog: Catalog, library: Library
) -> None:
    def work(catalog: Catalog, worker: int, document: Document) -> bool:
        if worker % 2:
            catalog.begin_delete(TENANT, document.id)
            return True
        version_id = document.pending_version_id or ""
        try:
            catalog.save_chunks(version_id, [chunk(0, "text")], owner="worker")
            catalog.publish_version(document.id, version_id, owner="worker")
            catalog.advance(document.id, "worker", DocumentState.INDEXED)
        except WorkRefused:
            return False
        return True

    with _together(database_url) as each_does:
        for n in range(ROUNDS):
            document = library.add(f"{n}.md")
            catalog.claim(document.id, "worker", 60)
            each_does(lambda catalog, worker, document=document: work(catalog, worker, document))
            assert catalog.get_document(TENANT, document.id).state is DocumentState.DELETING
            (version,) = catalog.retired_versions(document.id)
            assert version.state is VersionState.RETIRED
            ids = [record.id for record in catalog.chunks_of(version.id)]
            assert catalog.chunks_by_id(TENANT, ids) == []


def test_a_deletion_and_an_addition_of_the_same_bytes_at_once_leave_one_or_none(
    database_url: str, catalog: Catalog, library: Library
) -> None:
    with _together(database_url) as each_does:
        for n in range(ROUNDS):
            document = library.add(f"{n}.md")

            def work(catalog: Catalog, worker: int, document: Document = document) -> tuple[str, bool] | None:
                if worker == 0:
                    catalog.begin_delete(TENANT, document.id)
                    return None
                added, created = catalog.add_document(
                    TENANT, document.name, ids_hash(document.name), "text/markdown", 1
                )
                return added.id, created

            added = [result for result in each_does(work) if result]
            found_now = catalog.list_documents(TENANT, chosen=DocumentFilter(document.name)).items
            live = [found for found in found_now if found.id != document.id]
            assert len(live) == sum(created for _, created in added) <= 1
            assert {document_id for document_id, _ in added} <= {document.id, *(found.id for found in live)}
            for found in live:
                catalog.begin_delete(TENANT, found.id)


def test_readers_do_not_wait_for_a_writer(database_url: str, catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    reader = Catalog(database_url)
    with catalog._write() as session:
        session.execute(text("UPDATE documents SET title = 'not yet'"))
        assert reader.get_document(TENANT, document.id) == document
    assert reader.get_document(TENANT, document.id).title == "not yet"
    reader.close()


def _add_twenty(url: str) -> list[tuple[str, bool]]:
    catalog = Catalog(url)
    added = [catalog.add_document(TENANT, f"{n}.md", ids_hash(f"bytes {n}"), "text/plain", 1) for n in range(20)]
    catalog.close()
    return [(document.id, created) for document, created in added]


EachDoes = Callable[[Callable[..., object]], list]


@contextmanager
def _together(url: str) -> Iterator[EachDoes]:
    """Gives a function that runs `work(catalog, worker)` in several threads at once, each with its own catalog."""
    catalogs = [Catalog(url) for _ in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as threads:

        def each_does(work: Callable[..., object]) -> list:
            barrier = Barrier(WORKERS)

            def start(worker: int) -> object:
                barrier.wait(timeout=30)
                return work(catalogs[worker], worker)

            return list(threads.map(start, range(WORKERS)))

        yield each_does
    for catalog in catalogs:
        catalog.close()
