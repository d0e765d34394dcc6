"""Where the files of an embedding or reranking model lie."""

from pathlib import Path

from huggingface_hub import snapshot_download

# The same weights in formats that are not loaded here.
_OTHER_FORMATS = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.tflite"]


def model_folder(model: str) -> Path:
    """The folder itself, or where the Hugging Face id has been downloaded to, now if need be.

    Raises: what the download raises.
    """
    folder = Path(model).expanduser()
    return folder if folder.is_dir() else Path(snapshot_download(model, ignore_patterns=_OTHER_FORMATS))
