"""A document that was fetched has a URL for a name: its path tells what kind of text it is."""

import pytest

from retrieval.parsing.media_type import MediaType, is_mail, text_media_type


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("https://a.example/x.md?version=2", MediaType.MARKDOWN),
        ("https://a.example/x.csv?as=x.html#y", MediaType.CSV),
        ("https://a.example/list?file=x.md", MediaType.PLAIN),
        ("https://a.md", MediaType.PLAIN),
        ("https://a.example/", MediaType.PLAIN),
    ],
)
def test_a_text_is_of_the_kind_that_the_path_names(name: str, kind: MediaType) -> None:
    assert text_media_type("a, b\n1, 2\n", name) is kind


def test_a_message_is_one_under_a_url_unless_its_path_says_otherwise() -> None:
    message = b"From: a@example.org\nTo: b@example.org\nSubject: Trains\n\nThey leave at nine.\n"
    assert is_mail(message, "https://a.example/mail/1?raw=1.txt")
    assert not is_mail(message, "https://a.example/mail.txt?raw=1")
