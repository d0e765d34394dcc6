"""Requests that arrive while others run: added to the engine by hand, which is stepped by hand."""

import torch
from fusion_rig import Rig
from vllm import SamplingParams

from app.core.ids import new_id
from generator.engine import cache_salt
from generator.fusion_request import FusionRequest


class Crowd:
    """By request: `tokens`, those generated; `steps`, the numbers of the steps in which it got one; `first`, the
    log-probabilities (vocabulary,) of its first token, where it was added with `traced`. `finished` are those that
    ended by themselves."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.engine = rig.llm.llm_engine
        self.tokens: dict[str, list[int]] = {}
        self.steps: dict[str, list[int]] = {}
        self.first: dict[str, torch.Tensor] = {}
        self.finished: set[str] = set()
        self.step_number = 0

    def add(self, ids: list[int], request: FusionRequest | None, max_tokens: int, *, traced: bool = False) -> str:
        name = new_id("crowd")
        extra = {"kv_transfer_params": request.to_params()} if request else {}
        sampling = SamplingParams(
            temperature=0,
            max_tokens=max_tokens,
            ignore_eos=True,
            logprobs=-1 if traced else None,
            detokenize=False,
            extra_args=extra,
        )
        salt = cache_salt(request) if request else new_id("salt")
        self.engine.add_request(name, {"prompt_token_ids": ids, "cache_salt": salt}, sampling)
        return name

    def step(self) -> None:
        self.step_number += 1
        for output in self.engine.step():
            self.tokens[output.request_id] = list(output.outputs[0].token_ids)
            self.steps.setdefault(output.request_id, []).append(self.step_number)
            if output.outputs[0].logprobs and output.request_id not in self.first:
                row = output.outputs[0].logprobs[0]
                self.first[output.request_id] = torch.tensor([row[t].logprob for t in range(len(row))])
            if output.finished:
                self.finished.add(output.request_id)

    def finish(self) -> None:
        while self.engine.has_unfinished_requests():
            self.step()
