"""What is said when nothing in the documents fits the question, in the question's language."""

import re

# ruff: noqa: RUF001  (full-width marks and letters of other scripts are meant)

_ENGLISH = "I found nothing about this in the documents."
_JAPANESE = "登録された文書の中に、この質問に関する記述は見つかりませんでした。"
_CHINESE = "在已添加的文档中没有找到与此问题有关的内容。"

_BY_SCRIPT = (
    (re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d]"), _JAPANESE),
    (re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), "등록된 문서에서 이 질문에 관한 내용을 찾지 못했습니다."),
    # Han alone: characters that Japanese writes otherwise or hardly ever.
    (re.compile(r"[么麼怎哪谁吗嗎呢几们們这這说时问东为对请无]|多少|(?<!目)的"), _CHINESE),
    (re.compile(r"[\u3400-\u9fff]"), _JAPANESE),
    (re.compile(r"[\u0400-\u04ff]"), "В документах ничего об этом не нашлось."),
)
_BY_WORDS = {
    "die der das wie was wer wo wann warum welche welcher welches ist sind nicht ein eine und für wird wurde gibt hat "
    "kann viele viel ich wir von im mit zu": "Dazu habe ich in den Dokumenten nichts gefunden.",
    "le la les des du est sont quel quelle quels quelles qui que quoi où quand comment pourquoi combien une un dans "
    "pour et au aux il elle ce cette sur en": "Je n’ai rien trouvé à ce sujet dans les documents.",
    "el la los las es son qué que quién quiénes cuál cuáles cuándo cuando dónde donde cómo como cuánto cuántos cuánta "
    "cuántas por para una un en del y se": "No he encontrado nada sobre esto en los documentos.",
    "il lo la gli i è sono che chi quale quali quando dove come perché quanto quanti quanta quante una un nel nella "
    "della di per e si": "Non ho trovato nulla al riguardo nei documenti.",
    "o a os as é são que quem qual quais quando onde como porque quanto quantos quanta quantas uma um no na da do dos "
    "para e em se": "Não encontrei nada sobre isso nos documentos.",
    "de het een is zijn wat wie waar wanneer waarom hoe welke hoeveel niet en voor van op met wordt werd": (
        "Ik heb hierover niets in de documenten gevonden."
    ),
    "the a an is are was were what who where when why how which many much does do did of in on for to and i we can": (
        _ENGLISH
    ),
}
_WORDS = [(frozenset(words.split()), answer) for words, answer in _BY_WORDS.items()]


def no_answer(question: str) -> str:
    """By the script, else by the language whose function words are the most among the question's; else in English."""
    for script, answer in _BY_SCRIPT:
        if script.search(question):
            return answer
    words = re.findall(r"[^\W\d_]+", question.lower())
    shares = [(sum(word in known for word in words), answer) for known, answer in _WORDS]
    most = max(count for count, _ in shares)
    best = [answer for count, answer in shares if count == most]
    return _ENGLISH if _ENGLISH in best else best[0]
