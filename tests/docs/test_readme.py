"""README and docs say only what is so: commands, options, targets, links and settings all exist."""

import re
import shlex

import pytest
import typer
from markdown_pages import PAGES, ROOT, code_in_sentences, code_lines, links
from typer.core import TyperGroup

from app.cli.main import cli
from app.core.settings import Settings
from benchmarks.main import bench

COMMANDS = typer.main.get_command(cli).commands
BENCHMARKS = typer.main.get_command(bench).commands
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def words_after(program, lines):
    """The arguments that the lines give to a program, behind variables set for it and whatever runs it."""
    for line in lines:
        found = re.search(rf"(?:^|\s)(?:\S*/)?{program}((?:\s.*)?)$", line)
        if found and not line.startswith("#"):
            yield shlex.split(found[1], comments=True)


@every_page
def test_every_command_in_a_code_block_is_one_that_preread_understands(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    for words in words_after("preread", code_lines(page)):
        name, *arguments = words
        command = COMMANDS[name]
        if name == "bench":
            name, *arguments = arguments
            command = BENCHMARKS[name]
        elif isinstance(command, TyperGroup):
            name, *arguments = arguments
            command = command.commands[name]
        command.make_context(name, arguments)


@every_page
def test_every_make_target_exists(page):
    named = [*code_lines(page), *(code for code in code_in_sentences(page) if code.startswith("make "))]
    for words in words_after("make", named):
        targets = [word for word in words if "=" not in word]
        assert set(targets) <= TARGETS, words


@every_page
def test_every_command_named_in_a_sentence_exists(page):
    for code in code_in_sentences(page):
        if code.startswith("preread "):
            assert re.split(r"\W+", code)[1] in COMMANDS, code


@every_page
def test_every_relative_link_leads_to_a_file(page):
    for link in links(page):
        if not re.match(r"[a-z]+:|#", link):
            assert (page.parent / link.split("#")[0]).exists(), link


@every_page
def test_every_setting_named_is_one(page):
    known = {f"PREREAD_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"PREREAD_[A-Z0-9_]*[A-Z0-9]", page.read_text())) <= known


def test_the_readme_names_both_commands_to_begin_with():
    assert {"demo", "test"} <= {words[0] for words in words_after("make", code_lines(ROOT / "README.md")) if words}
