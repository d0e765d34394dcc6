"""The model fingerprint: the same only when chunk KV can be exchanged."""

import json
from hashlib import blake2b
from pathlib import Path

import xxhash

_WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
_BLOCK_BYTES = 1 << 22
_QUANTISATION = ("quantize_config.json", "quant_config.json", "hf_quant_config.json")
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt")
_IGNORED_CONFIG = ("_name_or_path", "transformers_version", "torch_dtype", "dtype")


def model_fingerprint(folder: Path, dtype: str) -> str:
    """Hex BLAKE2b-256 over weights, configuration (RoPE and attention settings are in it), tokenizer and `dtype`.

    How weights are quantised stands in the configuration, or in a file of its own where the tool that did it keeps one.
    Every byte of the weights counts, as a fine-tuned model may differ in a few layers alone; they are digested with
    XXH3-128, so that reading them is what takes the time.
    """
    digest = blake2b(b"preread-model-1", digest_size=32)
    config = json.loads((folder / "config.json").read_text())
    for name in _IGNORED_CONFIG:
        config.pop(name, None)
    _add(digest, json.dumps(config, sort_keys=True).encode())
    _add(digest, dtype.encode())
    for path in sorted(path for pattern in _WEIGHTS for path in folder.glob(pattern)):
        _add(digest, path.name.encode())
        _add(digest, _digest(path))
    for name in _QUANTISATION:
        path = folder / name
        if path.exists():
            _add(digest, name.encode())
            _add(digest, path.read_bytes())
    for name in _TOKENIZER:
        path = folder / name
        _add(digest, path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def _digest(path: Path) -> bytes:
    digest = xxhash.xxh3_128()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.digest()


def _add(digest: blake2b, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
