"""Documents in: files that mean harm, and files that came to harm."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import psutil
import pytest
from bombs import HARMLESS, REFUSED
from fuzzing import SAMPLES, damaged, read_damaged

from retrieval.errors import FileRefused

TRIES = 150
SECONDS = 240
CODES = {refusal.code for refusal in FileRefused.__subclasses__()}


@pytest.fixture
def no_process_is_left():
    before = set(psutil.Process().children(recursive=True))
    yield
    assert {child for child in psutil.Process().children(recursive=True) if child.is_running()} <= before


class TestBombs:
    """Case 5. What unpacks to far more than its size is refused before it is unpacked, within the limits of time and
    memory that one file has; what only claims to be vast is read."""

    @pytest.mark.parametrize("name", REFUSED)
    @pytest.mark.usefixtures("no_process_is_left")
    def test_a_bomb_is_refused_with_its_code(self, library, name):
        make, codes = REFUSED[name]
        data = make()
        assert len(data) < 5_000_000
        shown = library.add(name, data)
        assert shown["state"] == "failed"
        assert shown["failure"]["code"] in codes
        assert shown["chunks"] == 0
        library.client.delete(f"/documents/{shown['id']}")

    @pytest.mark.parametrize("name", HARMLESS)
    @pytest.mark.usefixtures("no_process_is_left")
    def test_what_only_claims_to_be_vast_is_read(self, library, name):
        make, text = HARMLESS[name]
        shown = library.add(name, make())
        assert shown["state"] == "indexed", shown["failure"]
        assert text in library.text(shown["id"])
        library.client.delete(f"/documents/{shown['id']}")


class TestDamage:
    """Case 8. However a file is damaged, it is read or fails with a known reason, in bounded time; the worker lives,
    and the next file is read."""

    @pytest.mark.parametrize("name", SAMPLES)
    def test_a_file_damaged_in_hundreds_of_ways_is_read_or_refused_each_time(self, name):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            outcomes = process.submit(read_damaged, name, range(TRIES)).result(timeout=SECONDS)
        assert sum(outcomes.values()) == TRIES
        assert set(outcomes) <= CODES | {"read"}
        assert len(outcomes) > 1, "some were damaged and some were not enough"

    @pytest.mark.parametrize("name", SAMPLES)
    @pytest.mark.usefixtures("no_process_is_left")
    def test_a_damaged_upload_fails_alone_and_the_next_file_is_read(self, library, name):
        for data in [damaged(name, seed) for seed in range(10_000, 10_002)]:
            shown = library.add(name, data or b"0")
            assert (shown["state"] == "indexed") == (shown["failure"] is None)
            if shown["failure"]:
                assert shown["failure"]["code"] in CODES
        good = library.add(name, SAMPLES[name])
        assert (good["state"], good["failure"]) == ("indexed", None)
        assert good["id"] == shown["id"]
        library.client.delete(f"/documents/{good['id']}")
