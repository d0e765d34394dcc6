"""The index in this process: what a kill, damage, an earlier install and deletions leave of it."""

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import qdrant_edge
from index_writer import CHUNKS
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, Modifier, PointStruct, SparseVector, SparseVectorParams, VectorParams

from retrieval import edge_migration, sparse
from retrieval.edge_client import EdgeClient
from retrieval.errors import IndexLocked, IndexUnavailable
from retrieval.index import IndexedChunk, Scope, SearchMode
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex

ROOT = Path(__file__).parents[2]
X = [1.0, 0.0, 0.0]


def chunk(chunk_id: str, text: str = "The bridge is long.", document_id: str = "doc_1") -> IndexedChunk:
    return IndexedChunk(chunk_id, document_id, "ver_1", "acme", 0, text, X)


def opened(folder: Path) -> QdrantIndex:
    return QdrantIndex.open_local(folder, 3, "a-model")


def ids(index: QdrantIndex, text: str = "Which bridge?") -> list[str]:
    return sorted(found.chunk_id for found in index.search("acme", Question(text, X), 50))


def killed_writer(folder: Path, first: int, lines: int) -> list[tuple[str, int]]:
    """What a writer had begun when it was killed, the last of it perhaps not done."""
    command = [sys.executable, "-m", "index_writer", str(folder), str(first)]
    environment = {"PYTHONPATH": f"{ROOT}:{Path(__file__).parent}", "PATH": ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
        assert writer.stdout is not None
        begun = [writer.stdout.readline() for _ in range(lines)]
        writer.kill()
        begun += writer.stdout.readlines()
    return [(what, int(number)) for what, number in (line.split() for line in begun)]


@pytest.mark.parametrize("seed", range(3))
def test_what_was_written_before_a_kill_is_there_after_it_and_what_was_deleted_is_not(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    wanted: dict[int, set[bool]] = {}  # by document: whether it may be labelled; empty: it is deleted
    for _ in range(3):
        begun = killed_writer(tmp_path, len(wanted), chance.randint(1, 25))
        for what, number in begun:
            wanted[number] = {"add": {False}, "label": {True}, "delete": set()}[what]
        last, number = begun[-1]
        index = opened(tmp_path)
        assert (
            index.count("acme", f"doc_{number}")
            in {"add": (0, CHUNKS), "label": (CHUNKS,), "delete": (0, CHUNKS)}[last]
        )
        index.delete_document("acme", f"doc_{number}")
        wanted[number] = set()
        held = Counter({f"doc_{n}": CHUNKS for n, labelled in wanted.items() if labelled})
        assert index.count("acme") == held.total()
        for document_id in held:
            assert index.count("acme", document_id) == CHUNKS
            found = index.search("acme", Question("bridge", X), CHUNKS, Scope((document_id,), ("kept",)))
            assert len(found) == CHUNKS
        index.close()
    assert any(wanted.values())
    assert not all(wanted.values())


@pytest.mark.parametrize(
    "name", ["segment.json", "vector_storage-dense/deleted/status.dat"], ids=["error", "the engine breaks off"]
)
def test_a_damaged_collection_is_made_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    index = opened(tmp_path)
    index.upsert([chunk("a")])
    index.close()
    damaged = list(tmp_path.glob(f"shards/*/shard/segments/*/{name}"))
    assert damaged
    for path in damaged:
        path.write_bytes(b"\0" * 8)
    again = opened(tmp_path)
    assert "cannot be opened and is made anew" in caplog.text
    assert again.missing(["a"]) == {"a"}
    again.upsert([chunk("a")])
    assert ids(again) == ["a"]
    again.close()


def test_a_collection_whose_making_was_cut_off_is_made_anew(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.close()
    for params in tmp_path.glob("shards/*/params.json"):
        params.unlink()
    again = opened(tmp_path)
    again.upsert([chunk("a")])
    assert ids(again) == ["a"]
    again.close()


def test_damage_that_shows_in_a_search_makes_the_index_unavailable(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.upsert([chunk(f"chk_{n}") for n in range(50)])
    for path in tmp_path.glob("shards/*/shard/segments/*/payload_storage/page_0.dat"):
        with path.open("r+b") as file:
            file.write(random.Random(0).randbytes(8192))
    with pytest.raises(IndexUnavailable, match="does not answer"):
        ids(index)
    index.close()


def test_an_engine_that_has_the_folder_open_locks_the_index(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (shard,) = tmp_path.glob("shards/*/shard")
    engine = qdrant_edge.EdgeShard.load(str(shard))
    with pytest.raises(IndexLocked):
        opened(tmp_path)
    engine.close()
    opened(tmp_path).close()


def test_words_weigh_after_deletions_as_if_what_was_deleted_had_never_been_there(tmp_path: Path) -> None:
    rare, common = [chunk(f"rare_{n}", "sluice", "doc_1") for n in range(20)], [chunk("both", "bridge sluice", "doc_2")]
    others = [chunk(f"other_{n}", "bridge", "doc_3") for n in range(5)]
    question = Question("bridge sluice", X)

    def cosines_and_order(index: QdrantIndex) -> list[str]:
        return [found.chunk_id for found in index.search("acme", question, 10, mode=SearchMode.SPARSE)]

    index, fresh = opened(tmp_path / "index"), opened(tmp_path / "fresh")
    index.upsert([*rare, *common, *others, chunk("last", "sluice", "doc_2")])
    assert cosines_and_order(index)[-1].startswith("rare")
    index.delete_document("acme", "doc_1")
    fresh.upsert([*common, *others, chunk("last", "sluice", "doc_2")])
    assert cosines_and_order(index) == cosines_and_order(fresh)
    assert cosines_and_order(index)[:2] == ["both", "last"]
    index.close()
    fresh.close()


def test_what_was_deleted_does_not_stay_in_the_collections_files(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.upsert([chunk(f"chk_{n}", document_id=f"doc_{n % 2}") for n in range(40)])
    index.delete_document("acme", "doc_0")
    index.close()
    segments = [path for path in tmp_path.glob("shards/*/shard/segments/**/*") if path.is_file()]
    assert any(b"doc_1" in path.read_bytes() for path in segments)
    assert not any(b"doc_0" in path.read_bytes() for path in segments)


def numbered(number: int) -> PointStruct:
    indices, values = sparse.chunk_vector(f"bridge {number}")
    return PointStruct(
        id=number,
        vector={"dense": [1.0, number, 0.0], "sparse": SparseVector(indices=indices, values=values)},
        payload={"tenant": "acme", "document_id": "doc_1", "version_id": "v", "chunk_id": f"chk_{number}"},
    )


def local_mode(folder: Path, name: str) -> QdrantClient:
    client = QdrantClient(path=str(folder))
    if not client.collection_exists(name):
        client.create_collection(
            name,
            vectors_config={"dense": VectorParams(size=3, distance=Distance.COSINE)},
            sparse_vectors_config={"sparse": SparseVectorParams(modifier=Modifier.IDF)},
        )
        client.upsert(name, [numbered(number) for number in range(450)])
    return client


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A folder as an earlier install left it, of this embedding model."""
    index = opened(tmp_path / "names")
    name = index._current.name
    index.close()
    local_mode(tmp_path / "index", name).close()
    return tmp_path / "index"


def test_an_earlier_installs_chunks_are_found_at_once_by_vector_and_by_words(earlier: Path) -> None:
    index = opened(earlier)
    assert index.count("acme") == 450
    best = {mode: index.search("acme", Question("bridge 300", [1.0, 300.0, 0.0]), 1, mode=mode) for mode in SearchMode}
    assert best[SearchMode.SPARSE][0].chunk_id == best[SearchMode.HYBRID][0].chunk_id == "chk_300"
    assert {path.name for path in earlier.iterdir()} == {"shards", ".lock"}
    index.close()


def test_a_move_from_an_earlier_install_that_was_cut_off_begins_anew(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(edge_migration.shutil, "rmtree", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            opened(earlier)
    index = opened(earlier)
    assert index.count("acme") == 450
    index.close()


def test_an_earlier_preread_that_still_runs_locks_the_index(earlier: Path) -> None:
    running = QdrantClient(path=str(earlier))
    with pytest.raises(IndexLocked):
        opened(earlier)
    running.close()
    assert opened(earlier).count("acme") == 450


def test_what_the_engine_cannot_do_is_said(tmp_path: Path) -> None:
    client = EdgeClient(tmp_path)
    with pytest.raises(IndexUnavailable, match="has no collection other"):
        client.count("other")
    client.close()
