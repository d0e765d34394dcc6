import pytest

from app.cli.add import files_to_add
from app.cli.errors import NothingToAdd


def test_a_folder_gives_its_known_files_under_their_paths_in_it(tmp_path) -> None:
    for name in ("a.md", "sub/b.PDF", "sub/c.mp4", ".git/d.md", "sub/.e.md", "f.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("x")
    assert [name for _, name in files_to_add([tmp_path])] == ["a.md", "f.txt", "sub/b.PDF"]


def test_a_file_named_by_the_user_is_taken_whatever_it_is(tmp_path) -> None:
    odd = tmp_path / "notes.odd"
    odd.write_text("x")
    assert files_to_add([odd]) == [(odd, "notes.odd")]


def test_nothing_to_add_is_an_error_that_says_what_is_looked_for(tmp_path) -> None:
    with pytest.raises(NothingToAdd) as caught:
        files_to_add([tmp_path])
    assert ".pdf" in caught.value.hint
