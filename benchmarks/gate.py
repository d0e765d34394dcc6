"""`preread bench gate`: the least that must be fresh for a model's answers to be kept; found, and written down."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.errors import BadInput
from app.core.settings import get_settings
from benchmarks.bench_engine import bench_engine
from benchmarks.calibration import NOT_CALIBRATED, calibrated, candidate_layers, model_depth
from benchmarks.datasets import QuestionSet
from benchmarks.examination import examine_all
from benchmarks.gate_choice import REFERENCE, Bound
from benchmarks.gate_measured import REFERENCE_VARIANT, Measured
from benchmarks.gate_sources import Sources
from benchmarks.gate_table import gate_table
from benchmarks.machine import provenance
from benchmarks.variant import EXACT, Variant, policy_names
from generator.conditioning import Conditioning
from generator.engine_config import EngineConfig
from generator.gate import GateResult, gate_path, save_gate

DEFAULT_POLICIES = (
    "none,head@0,head@16,impact@.03,impact@.05,impact@.08,impact@.12,impact@.15,impact@.25,hkvd@.08,hkvd@.15,hkvd@.25"
)


def gate(
    data: Annotated[list[Path] | None, typer.Option(help="Folder of a question set; may be given again.")] = None,
    name: Annotated[list[QuestionSet] | None, typer.Option("--set", help="Which set the folder is.")] = None,
    documents: Annotated[bool, typer.Option("--documents", help="Ask about the service's own documents.")] = False,
    text: Annotated[Path | None, typer.Option(help="Ask about the text files of a folder.")] = None,
    n: Annotated[int, typer.Option(min=1, help="Questions of each.")] = 50,
    policies: Annotated[str, typer.Option(help="Comma-separated candidates, with their amounts.")] = DEFAULT_POLICIES,
    conditionings: Annotated[str, typer.Option(help="What later chunks are read behind.")] = "off,neutral,document",
    chunks: Annotated[int, typer.Option(min=1, help="Chunks in the prompt.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=0, help="Most tokens in a chunk; 0: the service's setting.")] = 0,
    answer_tokens: Annotated[int, typer.Option(min=1, help="Longest answer.")] = 64,
    kl_share: Annotated[float, typer.Option(min=0, help=f"Most divergence, as a share of {REFERENCE}'s.")] = 0.5,
    identical_points: Annotated[float, typer.Option(min=0, help="How many fewer answers may be identical.")] = 0.1,
    most_computed: Annotated[float, typer.Option(min=0, help="Most work, as a share, where nothing keeps them.")] = 0.1,
    calibrate: Annotated[int, typer.Option(min=0, help="Questions of each that first choose impact's layers.")] = 0,
    folder: Annotated[Path | None, typer.Option(help="Where to write; the state folder's gates/ if not named.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the policy and the conditioning that keep the model's answers at the least cost.

    Passages, policies and amounts are measured on question sets (--data with --set) or on your own documents
    (--documents, --text), about which the model makes up questions. The result goes to the state folder, where the
    service finds it.
    """
    settings = get_settings()
    chunk_tokens = chunk_tokens or settings.chunk_tokens
    candidates = candidate_variants(policies, conditionings)
    sources = Sources.named(data or [], name or [], text, service=documents)
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings, traced=True) as engine, Progress(console=console) as progress:
        questions = sources.questions(engine, settings, n=n, chunks=chunks, chunk_tokens=chunk_tokens)
        chosen = NOT_CALIBRATED
        if calibrate:
            few = [asked[:calibrate] for asked in questions.values()]
            bar = progress.add_task("calibrating", total=sum(map(len, few)))
            tried = candidate_layers(model_depth(settings), candidates[0].conditioning)
            found = [examine_all(engine, asked, tried, answer_tokens, lambda: progress.advance(bar)) for asked in few]
            chosen = calibrated(found, tried)
        candidates = [each.looking_at(chosen.layers) for each in candidates]
        asked_under = list(dict.fromkeys([REFERENCE_VARIANT, *candidates]))
        bar = progress.add_task("asking", total=sum(map(len, questions.values())))
        measured = Measured(
            {
                label: examine_all(engine, asked, asked_under, answer_tokens, lambda: progress.advance(bar))
                for label, asked in questions.items()
            }
        )
        fingerprint = engine.status.fingerprint
    bound = Bound(kl_share, identical_points, most_computed)
    judge = measured.gate(bound)
    choice = judge.choose([measured.row(variant) for variant in candidates])
    made = provenance(settings.model, settings.effective_dtype)
    result = GateResult(
        fingerprint=fingerprint,
        policy=choice.row.policy,
        conditioning=choice.row.conditioning,
        floor=choice.floor,
        chunk_tokens=chunk_tokens,
        impact_layers=chosen.layers or EngineConfig.from_settings(settings, fingerprint).impact_layers,
        provenance={
            **made,
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "bound": {**asdict(bound), "reference": REFERENCE},
            "within_bound": choice.within_bound,
            **measured.circumstances(),
            "layers": [dict(row) for row in chosen.table],
        },
        table=tuple(
            {**measured.figures(variant), "passes": judge.passes(measured.row(variant))} for variant in asked_under
        ),
    )
    path = folder / f"{fingerprint}.json" if folder else gate_path(settings.state_dir, fingerprint)
    save_gate(path, result)
    if as_json:
        typer.echo(json.dumps({**made, "path": str(path), **asdict(result)}))
    else:
        Console().print(gate_table(result))
        Console().print(f"written to {path}")


def candidate_variants(policies: str, conditionings: str) -> list[Variant]:
    """Every policy behind every passage; `alone:` policies once. Raises BadPolicy, BadInput."""
    names = [policy for policy in policy_names(policies) if policy != EXACT]
    try:
        passages = [Conditioning(part.strip()) for part in conditionings.split(",")]
    except ValueError as error:
        known = ", ".join(Conditioning)
        raise BadInput(f"“{conditionings}” is no list of conditionings.", f"Choose from {known}.") from error
    variants = [Variant(policy, passage) for policy, passage in product(names, passages)]
    alone = [Variant(each.policy, each.reading) for each in variants]
    if not alone:
        raise BadInput("There is no candidate: exact is what the others are compared with.", "Name other policies.")
    return list(dict.fromkeys(alone))
