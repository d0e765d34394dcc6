# ruff: noqa: RUF001  (full-width marks and letters of other scripts are meant)

import unicodedata

import pytest

from app.web.no_answer import no_answer


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("What is the leave policy?", "I found"),
        ("Holiday?", "I found"),
        ("", "I found"),
        ("Wie viele Urlaubstage gibt es?", "Dazu"),
        ("Quelle est la durée du congé annuel ?", "Je n’ai"),
        ("¿Cuándo se construyó el puente?", "No he"),
        ("Quando è stato costruito il ponte?", "Non ho"),
        ("Quantos dias de férias tenho?", "Não"),
        ("Wanneer werd de brug gebouwd?", "Ik heb"),
        ("橋の長さは？", "登録された"),
        ("年間休日数", "登録された"),
        ("大阪国際空港の目的", "登録された"),
        ("桥是什么时候建的？", "在已添加"),
        ("东京的人口", "在已添加"),
        ("다리는 언제 건설되었습니까?", "등록된"),
        ("東京的人口是多少，為什麼？", "在已新增"),
        ("Когда был построен мост?", "В документах"),
        ("Коли збудували міст?", "У документах"),
        ("Πότε χτίστηκε η γέφυρα;", "Δεν βρήκα"),
        ("מתי נבנה הגשר?", "לא מצאתי"),
        ("متى بني الجسر؟", "لم أجد"),
        ("पुल कब बना था?", "दस्तावेज़ों"),
        ("สะพานสร้างเมื่อไหร่", "ไม่พบ"),
        ("Kiedy zbudowano ten most i ile kosztował?", "Nie znalazłem"),
        ("Köprü ne zaman yapıldı ve kaç para tuttu?", "Belgelerde"),
        ("När byggdes bron och hur lång är den?", "Jag hittade"),
        ("Cây cầu được xây khi nào và ở đâu?", "Tôi không"),
        (unicodedata.normalize("NFD", "Cây cầu được xây khi nào và ở đâu?"), "Tôi không"),
        ("What does 年休 mean in the handbook?", "I found"),
        ("Was bedeutet 年休 in der Satzung?", "Dazu"),
        ("SmolLM2のKVキャッシュとは?", "登録された"),
        ("Qwen2 是什么？", "在已添加"),
        ("Что такое KV cache?", "В документах"),
    ],
)
def test_nothing_found_is_said_in_the_questions_language(question: str, beginning: str) -> None:
    assert no_answer(question).startswith(beginning)
