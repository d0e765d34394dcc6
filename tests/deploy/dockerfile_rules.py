"""What must hold for our Dockerfiles. Each rule returns the faults it finds in a file's text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from json import loads
from pathlib import PurePosixPath

from compose_rules import ROOT, command_faults

FOLDER = ROOT / "deploy" / "docker"

_FROM = re.compile(r"FROM (?P<base>\S+) AS (?P<name>\S+)")
_VERSION = re.compile(r"[^:]+:[^:]*\d+\.\d+[^:]*")


@dataclass
class Stage:
    """`steps` are (instruction, arguments), continuation lines joined."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def of(self, instruction: str) -> list[str]:
        return [arguments for found, arguments in self.steps if found == instruction]


def stages_of(text: str) -> dict[str, Stage]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    stages: dict[str, Stage] = {}
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        instruction, _, arguments = line.partition(" ")
        if found := _FROM.fullmatch(line):
            stages[found["name"]] = Stage(found["name"], found["base"])
        else:
            list(stages.values())[-1].steps.append((instruction, arguments.strip()))
    return stages


def lineage(stages: dict[str, Stage], name: str) -> list[Stage]:
    """A stage and those it is built upon, itself first."""
    found = []
    while name in stages:
        found.append(stages[name])
        name = stages[name].base
    return found


def bases_are_pinned(text: str) -> Iterator[str]:
    stages = stages_of(text)
    for stage in stages.values():
        if stage.base not in stages and not _VERSION.fullmatch(stage.base):
            yield f"{stage.name}: {stage.base} names no version"


def copied_files_exist(text: str) -> Iterator[str]:
    stages = stages_of(text)
    for stage in stages.values():
        for arguments in stage.of("COPY"):
            *sources, _ = [word for word in arguments.split() if not word.startswith("--")]
            origin = re.search(r"--from=(\S+)", arguments)
            if origin:
                if origin[1] not in stages:
                    yield f"{stage.name} copies from {origin[1]}, which is no stage"
                continue
            for source in sources:
                if not (ROOT / source).exists():
                    yield f"{stage.name}: there is no {source}"
                elif ignored(source):
                    yield f"{stage.name}: .dockerignore hides {source}"


def ignored(path: str, rules: str | None = None) -> bool:
    """Whether `.dockerignore` keeps `path` from the builder: the last line that fits it, or a folder of it, decides."""
    lines = (ROOT / ".dockerignore").read_text() if rules is None else rules
    hidden = False
    parts = PurePosixPath(path).parts
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    for line in lines.splitlines():
        pattern = line.removeprefix("!")
        if not pattern or line.startswith("#"):
            continue
        any_depth = pattern.removeprefix("**/")
        if any(
            candidate.count("/") == pattern.count("/") and fnmatch(candidate, pattern)
            if any_depth == pattern
            else fnmatch(PurePosixPath(candidate).name, any_depth)
            for candidate in above
        ):
            hidden = not line.startswith("!")
    return hidden


def images_run_as_a_user(text: str) -> Iterator[str]:
    stages = stages_of(text)
    for name in _targets(stages):
        users = [stage.of("USER") for stage in lineage(stages, name)]
        last = next((found[-1] for found in users if found), "root")
        if last in ("root", "0"):
            yield f"{name} runs as root"
    ids = set(re.findall(r"useradd --uid (\d+)", text))
    if len(ids) != 1:
        yield f"images that share volumes must share a user id, not {sorted(ids)}"


def images_run_our_commands(text: str) -> Iterator[str]:
    stages = stages_of(text)
    for name in _targets(stages):
        commands = [stage.of("CMD") for stage in lineage(stages, name)]
        words = loads(next((found[-1] for found in commands if found), "[]"))
        yield from (f"{name}: {fault}" for fault in command_faults(words))
    for stage in stages.values():
        for run in stage.of("RUN"):
            yield from (f"{stage.name}: {fault}" for fault in _run_faults(run))


def _run_faults(run: str) -> Iterator[str]:
    for part in run.split("&&"):
        if part.split()[:1] == ["preread"]:
            yield from command_faults(part.split())


def models_are_readable_by_everyone(text: str) -> Iterator[str]:
    """`save_pretrained` writes weights with mode 0600, and images do not run as the user that builds them."""
    for stage in stages_of(text).values():
        for run in stage.of("RUN"):
            if "--prepare-only" in run and "chmod -R a+rX" not in run:
                yield f"{stage.name} leaves weights that only root can read"


def packages_are_locked(text: str) -> Iterator[str]:
    """But for torch, whose lock has no hashes, the project itself, and CUDA's build of vLLM, which pyproject pins."""
    for stage in stages_of(text).values():
        for run in stage.of("RUN"):
            for part in run.split("&&"):
                if part.split()[:1] != ["pip"]:
                    continue
                exempt = "torch.lock" in part or "--editable ." in part or '".[gpu]"' in part
                if not exempt and not ("--require-hashes" in part and ".lock" in part):
                    yield f"{stage.name} installs what is not locked: {part.strip()}"


def folders_of(text: str, target: str) -> set[str]:
    """The folders that a target's image makes for its user."""
    runs = [run for stage in lineage(stages_of(text), target) for run in stage.of("RUN")]
    made = {word for run in runs for word in re.findall(r"(?<= )/var/lib/preread\S*", run)}
    return made | {"/home/preread"} if any("--create-home" in run for run in runs) else made


def _targets(stages: dict[str, Stage]) -> list[str]:
    return [name for name, stage in stages.items() if stage.of("CMD")]


RULES: tuple[Callable[[str], Iterator[str]], ...] = (
    bases_are_pinned,
    copied_files_exist,
    images_run_as_a_user,
    images_run_our_commands,
    models_are_readable_by_everyone,
    packages_are_locked,
)
