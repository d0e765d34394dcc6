"""What is said when nothing in the documents fits the question, in the question's language."""

import re

_JAPANESE = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d\u4e00-\u9fff]")


def no_answer(question: str) -> str:
    if _JAPANESE.search(question):
        return "登録された文書の中に、この質問に関する記述は見つかりませんでした。"
    return "I found nothing about this in the documents."
