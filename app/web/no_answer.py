"""What is said when nothing in the documents fits the question, in the question's language."""

import re
import unicodedata

# ruff: noqa: RUF001  (full-width marks and letters of other scripts are meant)

_ENGLISH = "I found nothing about this in the documents."
_JAPANESE = "登録された文書の中に、この質問に関する記述は見つかりませんでした。"
_CHINESE = "在已添加的文档中没有找到与此问题有关的内容。"
_TRADITIONAL_CHINESE = "在已新增的文件中沒有找到與此問題有關的內容。"

_BY_SCRIPT = (
    (re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d]"), _JAPANESE),
    (re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), "등록된 문서에서 이 질문에 관한 내용을 찾지 못했습니다."),
    # Han alone: characters that Japanese writes otherwise or hardly ever.
    (re.compile(r"[麼嗎們這說還幾誰裡給從]"), _TRADITIONAL_CHINESE),
    (re.compile(r"[么怎哪谁吗呢几们这说时问东为对请无]|多少|(?<!目)的"), _CHINESE),
    (re.compile(r"[\u3400-\u9fff]"), _JAPANESE),
    (re.compile(r"[іїєґІЇЄҐ]"), "У документах про це нічого не знайшлося."),
    (re.compile(r"[\u0400-\u04ff]"), "В документах ничего об этом не нашлось."),
    (re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"), "Δεν βρήκα κάτι σχετικό στα έγγραφα."),
    (re.compile(r"[\u0590-\u05ff]"), "לא מצאתי על כך דבר במסמכים."),
    (re.compile(r"[\u0600-\u06ff\u0750-\u077f]"), "لم أجد شيئًا عن هذا في المستندات."),
    (re.compile(r"[\u0900-\u097f]"), "दस्तावेज़ों में इस बारे में कुछ नहीं मिला।"),
    (re.compile(r"[\u0e00-\u0e7f]"), "ไม่พบข้อมูลเกี่ยวกับเรื่องนี้ในเอกสาร"),
)
_BY_WORDS = {
    "die der das wie was wer wo wann warum welche welcher welches ist sind nicht ein eine und für wird wurde gibt hat "
    "kann viele viel ich wir von im in auf den dem des mit zu": "Dazu habe ich in den Dokumenten nichts gefunden.",
    "le la les des du est sont quel quelle quels quelles qui que quoi où quand comment pourquoi combien une un dans "
    "pour et au aux il elle ce cette sur en": "Je n’ai rien trouvé à ce sujet dans les documents.",
    "el la los las es son qué que quién quiénes cuál cuáles cuándo cuando dónde donde cómo como cuánto cuántos cuánta "
    "cuántas por para una un en del y se": "No he encontrado nada sobre esto en los documentos.",
    "il lo la gli i è sono che chi quale quali quando dove come perché quanto quanti quanta quante una un nel nella "
    "della di per e si": "Non ho trovato nulla al riguardo nei documenti.",
    "o a os as é são que quem qual quais quando onde como porque quanto quantos quanta quantas uma um no na da do dos "
    "para e em se": "Não encontrei nada sobre isso nos documentos.",
    "de het een is zijn wat wie waar wanneer waarom hoe welke hoeveel niet en in voor van op met wordt werd": (
        "Ik heb hierover niets in de documenten gevonden."
    ),
    "w na z do jest są co kto gdzie kiedy jak ile jaki jaka jakie czy nie dlaczego dla się po od i": (
        "Nie znalazłem w dokumentach niczego na ten temat."
    ),
    "ne kim nerede nasıl neden kaç hangi var mı mi mu mü ve bir bu için ile kadar değil nedir": (
        "Belgelerde bununla ilgili bir şey bulamadım."
    ),
    "är vad vem var när hur varför vilken vilket vilka många mycket och en ett på för med inte som det den av i": (
        "Jag hittade inget om detta i dokumenten."
    ),
    "là gì ai ở đâu khi nào bao nhiêu tại sao thế có không của và các những một cho": (
        "Tôi không tìm thấy gì về điều này trong các tài liệu."
    ),
    "the a an is are was were what who where when why how which many much does do did of in on for to and i we can": (
        _ENGLISH
    ),
}
_WORDS = [(frozenset(words.split()), answer) for words, answer in _BY_WORDS.items()]
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_CLEARLY = 2


def no_answer(question: str) -> str:
    """By the language whose function words are the most among the question's, or by its script; else in English.

    A script decides, also where names in Latin letters stand among it, unless it is but a name among Latin words.
    """
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", question).lower())
    shares = [(sum(word in known for word in words), answer) for known, answer in _WORDS]
    most = max(count for count, _ in shares)
    letters = sum(map(str.isalpha, question))
    if most < _CLEARLY or 2 * len(_LATIN.findall(question)) <= letters:
        for script, answer in _BY_SCRIPT:
            if script.search(question):
                return answer
    best = [answer for count, answer in shares if count == most]
    return _ENGLISH if _ENGLISH in best else best[0]
