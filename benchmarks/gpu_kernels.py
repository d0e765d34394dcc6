"""Check the codec's Triton kernels on this machine's GPU and time them. Needs torch, triton and numpy alone.

    python benchmarks/gpu_kernels.py                                  prints one JSON object, in under five minutes
    TRITON_INTERPRET=1 python benchmarks/gpu_kernels.py --check       no GPU: the checks alone, on small sections

Exits with 1 where a kernel does not agree with its reference or there is no GPU.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import triton  # type: ignore[import-untyped]
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kernels.fused_reference import Rotation, Section, write_reference
from kernels.fused_write import write_section
from kernels.rans.reference import encode
from kernels.rans.tables import SCALE, SYMBOLS, Tables
from kernels.rans.triton import decode_sections, stack_sections

TOKENS = 256
BLOCK_SIZE = 16
MOVABLE = 6


@dataclass(frozen=True)
class Shape:
    """A model's sections: for each layer, for keys and for values, `parts` of `heads` heads."""

    model: str
    layers: int
    parts: int
    heads: int
    head_dim: int

    @property
    def width(self) -> int:
        return self.heads * self.head_dim

    @property
    def planes(self) -> int:
        return self.width * 6 // 10

    @property
    def sections(self) -> int:
        return self.layers * 2 * self.parts


SHAPES = (Shape("SmolLM2-135M", 30, 1, 3, 64), Shape("8B", 32, 2, 4, 128))


class Coded:
    """Sections with random symbols, coded, on a device; sections beyond the given sizes repeat them."""

    def __init__(self, sizes: Sequence[tuple[int, int]], copies: int, device: str) -> None:
        random = np.random.default_rng(0)
        tables = _tables()
        self.symbols, streams, planes, bumps = [], [], [], []
        for plane_count, token_count in sizes:
            rows = random.integers(0, MOVABLE - 1, plane_count).astype(np.uint8)
            moved = random.integers(0, 2, token_count).astype(np.uint8)
            drawn = [random.choice(SYMBOLS, token_count, p=tables.frequencies[row] / SCALE) for row in rows]
            self.symbols.append(torch.from_numpy(np.stack(drawn).astype(np.uint8)))
            planes.append(torch.from_numpy(rows))
            bumps.append(torch.from_numpy(moved))
            streams.append(encode(self.symbols[-1], planes[-1], bumps[-1], tables))
        words, starts, states = stack_sections(streams * copies)
        self.arguments: list[Any] = [
            torch.from_numpy(words.view(np.int16)).to(device),
            torch.from_numpy(starts).to(device),
            torch.from_numpy(states.view(np.int32)).to(device),
            torch.nn.utils.rnn.pad_sequence(planes, batch_first=True).repeat(copies, 1).to(device),
            torch.nn.utils.rnn.pad_sequence(bumps, batch_first=True).repeat(copies, 1).to(device),
            *(torch.tensor(counts * copies, dtype=torch.int32, device=device) for counts in zip(*sizes, strict=True)),
            torch.from_numpy(tables.slots.view(np.int32)).to(device),
            tables.movable,
        ]


def _tables() -> Tables:
    """From narrow to wide, as half-octave classes are."""
    distance = np.abs(np.arange(SYMBOLS) - SYMBOLS // 2)
    weights = np.exp(-distance / 2.0 ** np.arange(-1, MOVABLE - 1)[:, None])
    frequencies = 1 + np.floor(weights / weights.sum(1, keepdims=True) * (SCALE - SYMBOLS)).astype(np.int64)
    frequencies[:, SYMBOLS // 2] += SCALE - frequencies.sum(1)
    return Tables(frequencies.astype(np.uint16), MOVABLE)


def a_section(symbols: Tensor, width: int) -> Section:
    """Around what was decoded; as many exceptions as a tenth of the tokens."""
    planes, tokens = symbols.shape
    device, exceptions = symbols.device, -(-tokens // 10)
    return Section(
        symbols=symbols,
        rows=torch.randn(planes, width, device=device) / 32,
        mean=torch.randn(width, device=device),
        scales=0.5 ** torch.randint(0, 4, (tokens,), device=device),
        exception_planes=torch.randint(0, planes, (exceptions,), device=device),
        exception_tokens=torch.randperm(tokens, device=device)[:exceptions],
        exception_values=torch.randn(exceptions, device=device) * 300,
    )


def a_rotation(tokens: int, rotary_dim: int, device: str, *, neox: bool) -> Rotation:
    angles = torch.rand(tokens, rotary_dim // 2, device=device) * 6.3
    return Rotation(angles.cos(), angles.sin(), neox)


def check_decode(sizes: Sequence[tuple[int, int]], device: str) -> list[str]:
    """What is wrong with the rANS decoder."""
    coded = Coded(sizes, 1, device)
    decoded, whole = decode_sections(*coded.arguments)
    wrong = [
        f"A section of {planes} planes and {tokens} tokens decodes to other symbols."
        for (planes, tokens), symbols, section in zip(sizes, coded.symbols, decoded.cpu(), strict=True)
        if not torch.equal(section[:planes, :tokens], symbols)
    ]
    words, starts, *rest = coded.arguments
    cut = decode_sections(words[:-1].contiguous(), starts, *rest)[1]
    if not whole.all() or cut[-1] or not cut[:-1].all():
        wrong.append("Whole sections are not told from a cut one.")
    return wrong


def check_write(shapes: Sequence[tuple[int, int, int, int]], device: str) -> list[str]:
    """What is wrong with the fused write; shapes are planes, tokens, heads, head_dim."""
    wrong = []
    for planes, tokens, heads, dim in shapes:
        symbols = torch.randint(0, SYMBOLS, (planes, tokens), dtype=torch.uint8, device=device)
        section = a_section(symbols, heads * dim)
        for number, dtype in enumerate((torch.bfloat16, torch.float16, torch.float32)):
            halves_at = number % 2
            blocks = -(-tokens // BLOCK_SIZE) + 1
            sizes = [blocks, BLOCK_SIZE, heads, dim]
            sizes.insert(halves_at, 2)
            ours = torch.zeros(sizes, dtype=dtype, device=device)
            theirs = ours.clone()
            slots = torch.randperm(blocks * BLOCK_SIZE, device=device)[:tokens]
            slots[::7] = -1
            for half, rotation in enumerate(
                (a_rotation(tokens, dim // (1 + halves_at), device, neox=number != 2), None)
            ):
                write_section(section, ours.select(halves_at, half), slots, rotation)
                write_reference(section, theirs.select(halves_at, half), slots, rotation)
            off = (ours.float() - theirs.float()).abs()
            if (off > torch.finfo(dtype).eps * theirs.float().abs() + 1e-5 * theirs.float().abs().max()).any():
                wrong.append(f"{planes} planes, {tokens} tokens, {heads} x {dim}, {dtype}: off by {off.max():.3g}.")
    return wrong


def milliseconds(call: Callable[[], object], rounds: int = 15) -> float:
    """On the GPU; the median, after a warm-up."""
    took = []
    for number in range(rounds + 3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        if number >= 3:
            took.append(float(start.elapsed_time(end)))
    return median(took)


def replayed(call: Callable[[], object]) -> Callable[[], object]:
    """The same work without the time Python takes to launch it."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def copy_gb_s() -> float:
    source = torch.ones(1 << 29, dtype=torch.bfloat16, device="cuda")
    target = torch.empty_like(source)
    return source.nbytes / milliseconds(lambda: target.copy_(source)) / 1e6


def time_shape(shape: Shape, contexts: int, ceiling: float) -> dict[str, Any]:
    """Of `contexts` * 256 tokens; GB/s are of 16-bit keys and values, written."""
    coded = Coded([(shape.planes, TOKENS)] * 4, shape.sections * contexts // 4, "cuda")
    decoded, whole = decode_sections(*coded.arguments)
    blocks = contexts * TOKENS // BLOCK_SIZE
    heads = shape.heads * shape.parts
    caches = [
        torch.zeros(2, blocks, BLOCK_SIZE, heads, shape.head_dim, dtype=torch.bfloat16, device="cuda")
        for _ in range(shape.layers)
    ]
    rotation = a_rotation(TOKENS, shape.head_dim, "cuda", neox=True)
    all_slots = torch.randperm(blocks, device="cuda")[:, None] * BLOCK_SIZE + torch.arange(BLOCK_SIZE, device="cuda")
    jobs = []
    for index in range(shape.sections):
        layer, half, part = index // shape.parts // 2, index // shape.parts % 2, index % shape.parts
        own_heads = slice(part * shape.heads, (part + 1) * shape.heads)
        base = a_section(decoded[index], shape.width)
        for context, slots in enumerate(torch.split(all_slots.flatten(), TOKENS)):
            section = Section(**vars(base) | {"symbols": decoded[context * shape.sections + index]})
            jobs.append((section, caches[layer][half, :, :, own_heads], slots, None if half else rotation))

    def write() -> None:
        for job in jobs:
            write_section(*job)

    written = len(jobs) * TOKENS * shape.width * 2
    bits = 8 * coded.arguments[0].nbytes / decoded.numel() * shape.planes / shape.width
    result: dict[str, Any] = {"sections": len(jobs), "whole": bool(whole.all()), "bits_per_value": bits}
    calls = {"decode": lambda: decode_sections(*coded.arguments), "write": write}
    for name, call in calls.items():
        for how, timed in (("", call), ("_replayed", replayed(call))):
            took = milliseconds(timed)
            rate = written / took / 1e6
            result[name + how] = {"ms": took, "gb_s": rate, "of_copy": rate / ceiling}
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="the checks alone; without a GPU on small sections")
    only_check: bool = parser.parse_args().check
    interpreted = bool(triton.knobs.runtime.interpret)
    if interpreted and not only_check:
        print("TRITON_INTERPRET is set: nothing runs on the GPU. Unset it, or use --check.", file=sys.stderr)
        return 1
    if not interpreted and not torch.cuda.is_available():
        print("There is no GPU that PyTorch can use. TRITON_INTERPRET=1 and --check need none.", file=sys.stderr)
        return 1
    torch.manual_seed(0)
    if interpreted:
        wrong = check_decode([(3, 17), (2, 1), (2, 40)], "cpu") + check_write([(3, 17, 1, 16), (20, 40, 2, 32)], "cpu")
    else:
        sizes = [(24, 1), (24, 15), (115, 17), (115, 255), (307, 256), (115, 256)]
        wrong = check_decode(sizes, "cuda")
        wrong += check_write([(24, 17, 3, 64), (115, 256, 3, 64), (307, 255, 4, 128), (40, 33, 2, 80)], "cuda")
    result: dict[str, Any] = {
        "model": ", ".join(shape.model for shape in SHAPES),
        "machine": "CPU, interpreted" if interpreted else torch.cuda.get_device_name(),
        "command": shlex.join(["python", *sys.argv]),
        "versions": {"torch": torch.__version__, "triton": triton.__version__},
        "wrong": wrong,
    }
    if not only_check:
        ceiling = result["copy_gb_s"] = copy_gb_s()
        result["shapes"] = {
            shape.model: {f"{n * TOKENS} tokens": time_shape(shape, n, ceiling) for n in (1, 16)} for shape in SHAPES
        }
    print(json.dumps(result))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
