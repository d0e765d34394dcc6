"""The official OpenAI client against the real application in a real server."""

import threading

import pytest
from openai import (
    APIError,
    AsyncOpenAI,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    OpenAI,
)
from scripted_engine import piece, usage
from web_harness import wait_until

QUESTION = "What is the travel meal allowance?"
ASKED = [{"role": "user", "content": QUESTION}]
CITING = [piece("The allowance is 45 euros a day [1]."), piece("", "stop"), usage(2000, 12), "[DONE]"]


@pytest.fixture
def url(web):
    return f"{web.client.base_url}/v1".replace("//v1", "/v1")


@pytest.fixture
def api_key(web):
    return web.client.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture
def client(url, api_key):
    with OpenAI(base_url=url, api_key=api_key, max_retries=0, timeout=30) as client:
        yield client


def ask(client, messages=ASKED, model="preread", **more):
    return client.chat.completions.create(model=model, messages=messages, **more)


def prompt_of(web):
    return web.services.tokenizer.decode(web.engine.completions[-1]["prompt"])


def test_an_answer_with_its_sources_in_the_text_and_as_annotations(web, client):
    web.engine.script = list(CITING)
    web.engine.tiers = [("disk", None), (None, "absent")]
    completion = ask(client)
    (choice,) = completion.choices
    text, (annotation,) = choice.message.content, choice.message.annotations
    citation = annotation.url_citation
    assert text.startswith("The allowance is 45 euros a day [1].\n\nSources:\n[1] Travel: http")
    assert text[citation.start_index : citation.end_index] == "[1]"
    url, _, places = citation.url.partition("#")
    start, end = map(int, places.split("-"))
    assert "45 euros" in web.client.get(url).text[start:end]
    assert (choice.finish_reason, choice.message.role, completion.model) == ("stop", "assistant", "preread")
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (2000, 12)
    assert completion.usage.total_tokens == 2012
    assert completion.usage.prompt_tokens_details.cached_tokens > 0
    assert completion.id == web.engine.completions[-1]["kv_transfer_params"]["preread"]["request_id"]


@pytest.mark.parametrize(
    ("sources", "in_text", "annotations"), [("text", True, 0), ("annotations", False, 1), ("both", True, 1)]
)
@pytest.mark.parametrize("stream", [False, True])
def test_where_sources_are_told_is_the_clients_choice(web, client, sources, in_text, annotations, stream):
    web.engine.script = list(CITING)
    answer = ask(client, stream=stream, extra_body={"preread": {"sources": sources}})
    if stream:
        deltas = [chunk.choices[0].delta for chunk in answer]
        text = "".join(delta.content or "" for delta in deltas)
        told = [each for delta in deltas for each in getattr(delta, "annotations", None) or ()]
    else:
        text, told = answer.choices[0].message.content, answer.choices[0].message.annotations
    assert ("Sources:" in text) is in_text
    assert len(told) == annotations


def test_a_stream_is_the_same_answer_in_pieces_with_its_usage_last(web, client):
    web.engine.script = [piece("The allowance"), *CITING]
    whole = ask(client)
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    *pieces, last = chunks
    assert pieces[0].choices[0].delta.role == "assistant"
    assert "".join(each.choices[0].delta.content or "" for each in pieces) == whole.choices[0].message.content
    assert [each.choices[0].finish_reason for each in pieces] == [None] * (len(pieces) - 1) + ["stop"]
    assert (last.choices, last.usage.prompt_tokens) == ([], 2000)
    assert len({each.id for each in chunks}) == 1
    assert all(each.usage is None for each in pieces)


async def test_the_asynchronous_client_both_ways(web, url, api_key):
    async with AsyncOpenAI(base_url=url, api_key=api_key, max_retries=0) as client:
        whole = await ask(client)
        stream = await ask(client, stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == whole.choices[0].message.content
    assert text.startswith("Forty euros.")


def test_earlier_messages_are_history_and_system_messages_go_with_the_question(web, client):
    web.ask(QUESTION)
    plain = web.engine.completions[-1]["kv_transfer_params"]["preread"]["segments"]
    ask(
        client,
        [
            {"role": "system", "content": "Answer in rhyme."},
            {"role": "assistant", "content": "How can I help?"},
            {"role": "user", "content": "How long is annual leave?"},
            {"role": "assistant", "content": "It is 28 days."},
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        ],
    )
    prompt = prompt_of(web)
    places = [prompt.index(text) for text in ("leave?", "It is 28 days.", "Answer in rhyme.", f"Question: {QUESTION}")]
    assert places == sorted(places)
    assert prompt.index("[2] ") < places[0]
    assert "How can I help?" not in prompt
    segments = web.engine.completions[-1]["kv_transfer_params"]["preread"]["segments"]
    assert segments[0] == plain[0], "the preamble stays as it was pre-read"


def test_no_answer_is_an_ordinary_answer(web, client):
    completion = ask(client, [{"role": "user", "content": "zxqv wblorf grumtide of the fifth kind?"}])
    assert completion.choices[0].message.content == "I found nothing about this in the documents."
    assert completion.choices[0].finish_reason == "stop"
    assert web.engine.completions == []


def test_models_are_listed_and_preread_exact_computes_everything(web, client):
    assert [model.id for model in client.models.list()] == ["preread", "preread:exact"]
    assert client.models.retrieve("preread:exact").id == "preread:exact"
    ask(client, model="preread:exact")
    assert web.engine.completions[-1]["kv_transfer_params"]["preread"]["policy"] == "exact"
    for call in (lambda: client.models.retrieve("gpt-9"), lambda: ask(client, model="gpt-9")):
        with pytest.raises(NotFoundError) as refusal:
            call()
        assert (refusal.value.code, refusal.value.param) == ("model_not_found", "model")


@pytest.mark.parametrize("limit", [{"max_tokens": 7}, {"max_completion_tokens": 7}])
def test_an_answer_cut_by_its_limit_says_so(web, client, limit):
    web.engine.script = [piece("Forty eur", "length"), usage(), "[DONE]"]
    assert ask(client, temperature=0.5, **limit).choices[0].finish_reason == "length"
    assert web.engine.completions[-1]["max_tokens"] == 7
    assert web.engine.completions[-1]["temperature"] == 0.5


@pytest.mark.parametrize(
    "harmless",
    [
        {"user": "ann", "seed": 7, "n": 1, "top_p": 1},
        {"top_p": 0.9},
        {"presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}},
        {"tools": [], "response_format": {"type": "text"}, "stop": []},
        {"logprobs": False, "metadata": {"a": "b"}, "parallel_tool_calls": True},
    ],
    ids="+".join,
)
def test_fields_that_ask_for_nothing_are_ignored(web, client, harmless):
    assert ask(client, **harmless).choices[0].message.content.startswith("Forty euros.")


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({"n": 2}, "n", "unsupported_parameter"),
        ({"top_p": 0.5, "temperature": 1}, "top_p", "unsupported_parameter"),
        ({"logprobs": True}, "logprobs", "unsupported_parameter"),
        ({"stop": ["\n"]}, "stop", "unsupported_parameter"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools", "unsupported_parameter"),
        ({"response_format": {"type": "json_object"}}, "response_format", "unsupported_parameter"),
        ({"extra_body": {"top_k": 3}}, "top_k", "unsupported_parameter"),
        ({"temperature": 3}, "temperature", "invalid_value"),
        ({"max_tokens": 0}, "max_tokens", "invalid_value"),
        ({"messages": []}, "messages", "invalid_value"),
        ({"messages": [{"role": "user", "content": "  "}]}, "messages", "invalid_value"),
        ({"messages": [{"role": "assistant", "content": "Hello."}]}, "messages", "invalid_value"),
        ({"messages": [{"role": "tool", "content": "7", "tool_call_id": "x"}]}, "messages.0.role", "invalid_value"),
        ({"extra_body": {"preread": {"sources": "nowhere"}}}, "preread.sources", "invalid_value"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else None,
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_is_not_supported_is_a_bad_request_that_names_the_field(web, client, fields, param, code, stream):
    with pytest.raises(BadRequestError) as refusal:
        ask(client, **{"messages": ASKED, **fields}, stream=stream)
    error = refusal.value
    assert (error.param, error.code, error.type) == (param, code, "invalid_request_error")
    assert error.body["message"]
    assert web.engine.completions == []


def test_a_question_too_long_is_a_bad_request_as_openai_calls_it(web, client):
    with pytest.raises(BadRequestError) as refusal:
        ask(client, [{"role": "user", "content": "travel meal allowance " * 3000}])
    assert refusal.value.code == "context_length_exceeded"


def test_an_image_is_refused(web, client):
    parts = [{"type": "image_url", "image_url": {"url": "data:,"}}]
    with pytest.raises(BadRequestError):
        ask(client, [{"role": "user", "content": parts}])


@pytest.mark.parametrize(("refusal", "status"), [(503, 503), (500, 502)])
def test_an_engine_that_refuses_is_a_server_error(web, client, refusal, status):
    web.engine.refusal = refusal
    with pytest.raises(InternalServerError) as error:
        ask(client)
    assert (error.value.status_code, error.value.type) == (status, "server_error")


@pytest.mark.parametrize("script", [[None], [piece("Forty"), None], [piece("Forty"), {"error": {"message": "memory"}}]])
def test_an_answer_that_breaks_off_in_a_stream_is_raised_by_the_client(web, client, script):
    web.engine.script = script
    with pytest.raises(APIError, match=r"broke off|without finishing") as error:
        list(ask(client, stream=True))
    assert error.value.code == "engine_failed"


def test_whoever_is_not_let_in_gets_an_authentication_error(url):
    with OpenAI(base_url=url, api_key="prk_none_at-all", max_retries=0, timeout=30) as stranger:
        for call in (lambda: ask(stranger), lambda: ask(stranger, stream=True), stranger.models.list):
            with pytest.raises(AuthenticationError) as error:
                call()
            assert error.value.body["message"].startswith("This API key is not known.")
            assert error.value.code == "unauthenticated"


def test_an_unexpected_error_has_openais_shape_and_tells_nothing_of_itself(web, client, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(web.services.retriever, "retrieve", broken)
    with pytest.raises(InternalServerError) as error:
        ask(client)
    assert error.value.code == "internal_error"
    assert "secret" not in str(error.value)


def test_other_methods_and_bodies_have_openais_shape_too(web):
    for answer in (
        web.client.post("/v1/chat/completions", content=b"{", headers={"Content-Type": "application/json"}),
        web.client.post("/v1/chat/completions", json={"model": "preread"}),
    ):
        assert answer.status_code == 400
        assert answer.json()["error"].keys() == {"message", "type", "param", "code"}


def test_leaving_a_stream_ends_the_generation(web, client):
    pause = threading.Event()
    web.engine.script = [piece("word "), *[lambda: pause.wait(0.02), piece("word ")] * 2000]
    with ask(client, stream=True) as stream:
        assert next(iter(stream)).choices[0].delta.role == "assistant"
    wait_until(lambda: web.engine.running == 0, "the engine has stopped", seconds=5)
    pause.set()


def test_an_answer_is_stopped_by_its_id(web, client):
    pause = threading.Event()
    web.engine.script = [piece("word "), *[lambda: pause.wait(0.02), piece("word ")] * 2000]
    stream = iter(ask(client, stream=True))
    request_id = next(stream).id
    assert web.client.post(f"/ask/{request_id}/stop").status_code == 202
    assert list(stream)[-1].choices[0].finish_reason == "stop"
    pause.set()
