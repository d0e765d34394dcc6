# ruff: noqa: RUF001  (full-width marks and letters of other scripts are meant)
"""One text in many languages, and every kind of text file that it can be written in."""

import base64

FERRY = {
    "English": "The ferry to Lisbon leaves at 7:45 every morning; tickets cost 12 pounds.",
    "German": "Die Fähre nach Köln fährt täglich um 7:45 Uhr über den großen Fluß; Fußgänger zahlen fünf Mark.",
    "French": "Le bac traverse la rivière à 7 h 45 ; les élèves paient moitié prix, même l'été.",
    "Polish": "Prom odpływa codziennie rano o siódmej; bilet dla dorosłych kosztuje trzy złote, źródło: urząd.",
    "Russian": "Паром отправляется каждое утро в семь часов. Билет для взрослых стоит триста рублей.",
    "Greek": "Το φέρι αναχωρεί κάθε πρωί στις επτά. Το εισιτήριο κοστίζει τρία ευρώ.",
    "Hebrew": "המעבורת יוצאת בכל בוקר בשעה שבע. המחיר למבוגר הוא שלושה שקלים.",
    "Japanese": "渡し船は毎朝七時四十五分に出港します。料金は大人三百円、子供は無料です。テーブルの予約は受付まで。",
    "simplified Chinese": "渡船每天早上七点四十五分开往对岸，成人票价三元，儿童免费。请在服务台预订座位。",
    "traditional Chinese": "渡船每天早上七點四十五分開往對岸，成人票價三元，兒童免費。請在服務台預訂座位。",
    "Korean": "나룻배는 매일 아침 일곱 시 사십오 분에 떠납니다. 어른은 삼백 원이고 어린이는 무료입니다.",
}
OF_ITS_TIME = {
    "English": ["cp1252"],
    "German": ["cp1252", "latin-1", "iso8859-15"],
    "French": ["cp1252", "latin-1"],
    "Polish": ["cp1250", "iso8859-2"],
    "Russian": ["cp1251", "koi8-r"],
    "Greek": ["cp1253", "iso8859-7"],
    "Hebrew": ["cp1255"],
    "Japanese": ["cp932", "euc_jp", "iso2022_jp"],
    "simplified Chinese": ["gb18030"],
    "traditional Chinese": ["big5"],
    "Korean": ["cp949"],
}
UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
WRITTEN = [(language, encoding) for language in FERRY for encoding in [*UNICODE, *OF_ITS_TIME[language]]]


def page(text: str, meta: str = "") -> str:
    return f"<html><head>{meta}<title>Ferry</title></head><body><p>{text}</p></body></html>"


def meta(encoding: str) -> str:
    return f'<meta http-equiv="Content-Type" content="text/html; charset={encoding}">'


def text_files(text: str, encoding: str) -> dict[str, bytes]:
    """By name, the text in each kind of file that says nothing, or the truth, of its encoding."""
    return {
        "ferry.txt": text.encode(encoding),
        "ferry.md": f"# {text[:12]}\n\n{text}\n".encode(encoding),
        "ferry.csv": f'nr,text\n1,"{text}"\n'.encode(encoding),
        "ferry.json": f'{{"text": "{text}"}}'.encode(encoding),
        "ferry.rst": f"Ferry\n=====\n\n{text}\n".encode(encoding),
        "ferry.html": page(text).encode(encoding),
        "true.html": page(text, meta(encoding)).encode(encoding),
    }


def mail(text: str, encoding: str, charset: str, coding: str = "8bit") -> bytes:
    head = (
        "From: a@example.org\r\nTo: b@example.org\r\nSubject: Ferry\r\nMIME-Version: 1.0\r\n"
        f"Content-Type: text/plain{f'; charset={charset}' if charset else ''}\r\n"
        f"Content-Transfer-Encoding: {coding}\r\n\r\n"
    )
    body = text.encode(encoding)
    return head.encode() + (base64.encodebytes(body) if coding == "base64" else body)


UNSPACED = {
    "Japanese": (
        "図書館の開館時間は平日が午前九時から午後八時まで、土曜日は午後五時までで、日曜日は休館です。貸出は一人十冊まで二週間です。",
        "貸出は一人何冊までですか",
        "十冊",
    ),
    "Chinese": (
        "图书馆的开放时间是工作日上午九点到晚上八点，星期六到下午五点，星期日闭馆。每人最多可以借十本书，期限为两周。",
        "每人最多可以借几本书",
        "十本",
    ),
    "Korean": (
        "도서관의개관시간은평일오전아홉시부터오후여덟시까지이고일요일은휴관입니다.대출은한사람에열권까지두주동안입니다.",
        "대출은한사람에몇권까지입니까",
        "열권",
    ),
    "Thai": (
        "ห้องสมุดเปิดวันธรรมดาเวลาเก้าโมงเช้าถึงสองทุ่มและปิดวันอาทิตย์ยืมหนังสือได้คนละสิบเล่มเป็นเวลาสองสัปดาห์",
        "ยืมหนังสือได้คนละกี่เล่ม",
        "สิบเล่ม",
    ),
}
"""Of each script without spaces: a sentence or two, a question, and the words that answer it."""
