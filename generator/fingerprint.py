"""The model fingerprint: the same only when chunk KV can be exchanged."""

import json
from hashlib import blake2b
from pathlib import Path

_WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt")
_SAMPLE_BYTES = 1 << 20
_IGNORED_CONFIG = ("_name_or_path", "transformers_version", "torch_dtype", "dtype")


def model_fingerprint(folder: Path, dtype: str) -> str:
    """Hex BLAKE2b-256 over weights, configuration (RoPE and attention settings are in it), tokenizer and `dtype`.

    Of each weights file its size and its first and last MiB are hashed: the first holds the safetensors index.
    """
    digest = blake2b(b"preread-model-1", digest_size=32)
    config = json.loads((folder / "config.json").read_text())
    for name in _IGNORED_CONFIG:
        config.pop(name, None)
    _add(digest, json.dumps(config, sort_keys=True).encode())
    _add(digest, dtype.encode())
    for path in sorted(path for pattern in _WEIGHTS for path in folder.glob(pattern)):
        _add(digest, path.name.encode())
        _add(digest, str(path.stat().st_size).encode())
        with path.open("rb") as file:
            _add(digest, file.read(_SAMPLE_BYTES))
            file.seek(max(0, path.stat().st_size - _SAMPLE_BYTES))
            _add(digest, file.read())
    for name in _TOKENIZER:
        path = folder / name
        _add(digest, path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def _add(digest: blake2b, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
