"""The client of the engine: vLLM's OpenAI-compatible server with our connector, reached over HTTP."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from app.core.request_context import outgoing_headers
from generator.errors import CaptureFailed, EngineFailed, EngineUnavailable
from generator.fusion_request import FusionRequest
from generator.report import FusionReport

_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 600.0
_TIMEOUT = httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=64)
"""Who calls limits how many answers run; a limit here would only make them wait unseen."""
_STATUS_TIMEOUT = httpx.Timeout(5.0)
_NOTE_TIMEOUT = httpx.Timeout(60.0, connect=_CONNECT_SECONDS)


@dataclass(frozen=True)
class EngineStatus:
    """What the engine serves; `fusion_reason` says why it serves exactly when `fusion` is False."""

    model: str
    fingerprint: str
    dtype: str
    max_model_tokens: int
    fusion: bool
    fusion_reason: str | None


@dataclass(frozen=True)
class Sampling:
    """`logprobs`: how many log-probabilities per token to return, None: none. `extra`: vLLM's own `vllm_xargs`."""

    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    logprobs: int | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Delta:
    text: str


@dataclass(frozen=True)
class Finished:
    """`finish_reason`: `stop` or `length`."""

    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


class EngineClient:
    """Speaks to one engine. Safe to share between threads and tasks.

    Every call raises EngineUnavailable when nothing answers and EngineFailed when the engine reports an error.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._sync = httpx.Client(
            base_url=self.url, timeout=_TIMEOUT, trust_env=False, event_hooks={"request": [_on_behalf]}
        )
        self._async = httpx.AsyncClient(
            base_url=self.url,
            timeout=_TIMEOUT,
            limits=_LIMITS,
            trust_env=False,
            event_hooks={"request": [_on_behalf_async]},
        )

    def status(self) -> EngineStatus:
        try:
            return EngineStatus(**_checked(self._sync.get("/preread/status", timeout=_STATUS_TIMEOUT)))
        except httpx.HTTPError as error:
            raise self._unavailable(error) from error

    def preread(self, token_ids: list[int], request: FusionRequest) -> float:
        """Prefill `token_ids` so that the engine stages the KV of the request's last segment.

        Returns: the seconds of the engine's steps that computed it, waiting excluded.
        Raises CaptureFailed when the engine could not capture every token.
        """
        body = _completion_body(token_ids, request, Sampling(max_tokens=1), stream=False)
        try:
            _checked(self._sync.post("/v1/completions", json=body))
            outcome = self._sync.get(f"/preread/captures/{request.request_id}", timeout=_NOTE_TIMEOUT)
        except httpx.HTTPError as error:
            raise self._unavailable(error) from error
        note = _checked(outcome)
        if note["problem"] is not None:
            raise CaptureFailed(f"The engine could not pre-read the chunk: {note['problem']}", "See the engine's log.")
        return float(note["seconds"])

    def purge(self, tenant: str, keys: list[str]) -> None:
        """Drop chunk KV from the engine's memory."""
        try:
            _checked(self._sync.post("/preread/purge", json={"tenant": tenant, "keys": keys}, timeout=_NOTE_TIMEOUT))
        except httpx.HTTPError as error:
            raise self._unavailable(error) from error

    async def generate(
        self, token_ids: list[int], request: FusionRequest, sampling: Sampling
    ) -> AsyncGenerator[Delta | Finished]:
        """Stream the answer; closing the iterator closes the connection, which aborts the generation in vLLM."""
        body = _completion_body(token_ids, request, sampling, stream=True)
        finish_reason: str | None = None
        usage: dict[str, Any] | None = None
        try:
            async with self._async.stream("POST", "/v1/completions", json=body) as response:
                if response.is_error:
                    await response.aread()
                    _checked(response)
                async for line in response.aiter_lines():
                    if not line.startswith("data: ") or line == "data: [DONE]":
                        continue
                    event = json.loads(line.removeprefix("data: "))
                    if "error" in event:
                        raise EngineFailed(f"The engine broke off: {event['error'].get('message', event['error'])}")
                    usage = event.get("usage") or usage
                    for choice in event["choices"]:
                        finish_reason = choice["finish_reason"] or finish_reason
                        if choice["text"]:
                            yield Delta(choice["text"])
        except httpx.ConnectError as error:
            raise self._unavailable(error) from error
        except httpx.HTTPError as error:
            raise EngineFailed(f"The engine broke off: {error!r}", "Ask again.") from error
        if finish_reason is None or usage is None:
            raise EngineFailed("The engine ended its answer without finishing it.", "Ask again.")
        yield Finished(finish_reason, usage["prompt_tokens"], usage["completion_tokens"])

    async def report(self, request_id: str) -> FusionReport:
        """What the engine did for a request; available from its first token on."""
        try:
            return FusionReport.from_json(
                _checked(await self._async.get(f"/preread/reports/{request_id}", timeout=_NOTE_TIMEOUT))
            )
        except httpx.HTTPError as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        self._sync.close()

    async def aclose(self) -> None:
        self._sync.close()
        await self._async.aclose()

    def _unavailable(self, error: httpx.HTTPError) -> EngineUnavailable:
        return EngineUnavailable(
            f"The engine at {self.url} does not answer ({type(error).__name__}).",
            "It may still be loading its model; `preread doctor` says more.",
        )


def _on_behalf(call: httpx.Request) -> None:
    """Tell the engine for which request of ours it is asked."""
    call.headers.update(outgoing_headers())


async def _on_behalf_async(call: httpx.Request) -> None:
    _on_behalf(call)


def _completion_body(
    token_ids: list[int], request: FusionRequest, sampling: Sampling, *, stream: bool
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "prompt": token_ids,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "seed": sampling.seed,
        "logprobs": sampling.logprobs,
        "cache_salt": cache_salt(request),
        "kv_transfer_params": request.to_params(),
        "stream": stream,
    }
    if sampling.extra:
        body["vllm_xargs"] = dict(sampling.extra)
    if stream:
        body["stream_options"] = {"include_usage": True}
    return body


def cache_salt(request: FusionRequest) -> str:
    """Fused blocks are found by no other request; exact ones by the same tenant's exact requests."""
    if request.policy == "exact" and request.capture is None and not request.nested:
        return f"exact:{request.tenant}"
    return f"{request.tenant}:{request.request_id}"


def _checked(response: httpx.Response) -> dict[str, Any]:
    if response.is_success:
        body: dict[str, Any] = response.json() if response.content else {}
        return body
    if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        raise EngineUnavailable(f"The engine is not ready: {response.text[:300]}", "Wait until its model is loaded.")
    raise EngineFailed(f"The engine answered {response.status_code}: {response.text[:300]}", "See the engine's log.")
