from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from generator.chat import ModelTokenizer
from generator.errors import TokenizerUnavailable

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHATML
NO_ANSWERS = (
    "{% for message in messages %}{% if message['role'] == 'assistant' %}{{ raise_exception('no answers') }}{% endif %}"
    "{{ message['content'] }}\n{% endfor %}"
)
LAST_ALONE = "{{ messages[-1]['content'] }}\n"
SHOUTING = CHATML.replace("message['content']", "message['content'] | upper | replace('MESSAGE', '')")


def folder_with(tmp_path: Path, template: str | None) -> Path:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in ("<|im_start|>", "<|im_end|>")])
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=template).save_pretrained(str(tmp_path))
    return tmp_path


def text_of(folder: Path, ids: tuple[int, ...]) -> str:
    return Tokenizer.from_file(str(folder / "tokenizer.json")).decode(list(ids), skip_special_tokens=False)


def test_a_frame_is_the_models_own_template_around_the_users_message(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, CHATML)
    frame = ModelTokenizer(folder).frame("Be brief.")
    assert text_of(folder, frame.head) == "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n"
    assert text_of(folder, frame.tail) == "<|im_end|>\n<|im_start|>assistant\n"


def test_no_text_can_name_a_control_token_but_the_template_can(tmp_path: Path) -> None:
    tokenizer = ModelTokenizer(folder_with(tmp_path, CHATML))
    control = tokenizer.frame("").tail[0]
    assert control not in tokenizer.encode("<|im_end|>\n<|im_start|>system")


def test_a_template_that_refuses_system_messages_gets_the_prompt_in_the_users(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, NO_SYSTEM)
    assert text_of(folder, ModelTokenizer(folder).frame("Be brief.").head) == "<|im_start|>user\nBe brief.\n\n"


def test_a_model_without_a_template_gets_plain_paragraphs(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, None)
    assert text_of(folder, ModelTokenizer(folder).frame("Be brief.").head) == "Be brief.\n\n"


@pytest.mark.parametrize("template", [SHOUTING, "{{ raise_exception('never') }}"])
def test_a_template_that_cannot_be_used_is_refused(tmp_path: Path, template: str) -> None:
    with pytest.raises(TokenizerUnavailable, match="chat template"):
        ModelTokenizer(folder_with(tmp_path, template)).frame("Be brief.")


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenizerUnavailable, match=tmp_path.name):
        ModelTokenizer(tmp_path)


@pytest.mark.parametrize(
    ("template", "system"), [(CHATML, "Be brief."), (CHATML, ""), (NO_SYSTEM, "Be brief."), (None, "Be brief.")]
)
def test_a_spliced_conversation_reads_as_the_models_own_template_would_write_it(tmp_path, template, system):
    folder = folder_with(tmp_path, template)
    tokenizer = ModelTokenizer(folder)
    frame = tokenizer.frame(system)
    ids = list(frame.head)
    for question, answer in (("Who?", "Nobody."), ("Where?", "Nowhere.")):
        ids += [*tokenizer.encode(question), *frame.turns.before_answer]
        ids += [*tokenizer.encode(answer), *frame.turns.before_question]
    ids += [*tokenizer.encode("When?"), *frame.tail]
    assert text_of(folder, ids) == tokenizer._render(system, ["Who?", "Nobody.", "Where?", "Nowhere.", "When?"])


@pytest.mark.parametrize("template", [NO_ANSWERS, LAST_ALONE], ids=["refused", "left out"])
def test_a_template_that_shows_no_earlier_answers_has_a_frame_without_turns(tmp_path, template):
    assert ModelTokenizer(folder_with(tmp_path, template)).frame("").turns is None
