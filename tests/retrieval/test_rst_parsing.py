from retrieval.parsing import parse

HANDBOOK = """
Handbook
========

:Author: Personnel

Twenty-five days of *leave*, see :ref:`travel`.

Leave
-----

- Ask early.
- Ask :strong:`twice`.

term
   What it means.

.. note:: Not in August.

.. list-table:: Days
   :header-rows: 1

   * - Grade
     - Days
   * - 1
     - 20

+-------+------+
| Region| City |
+=======+======+
| Kanto | Tokyo|
|       +------+
|       | Chiba|
+-------+------+

.. code-block:: sh

   preread add .

.. toctree::

   travel

.. a comment

.. include:: /etc/hostname
.. raw:: html

   <b>raw</b>
"""


def test_the_document_tree_becomes_text_with_headings() -> None:
    parsed = parse(HANDBOOK.encode(), "handbook.rst")
    assert (parsed.media_type, parsed.title) == ("text/x-rst", "Handbook")
    assert [(heading.level, heading.text) for heading in parsed.headings] == [(1, "Handbook"), (2, "Leave")]
    for heading in parsed.headings:
        assert parsed.text.startswith(heading.text, heading.start)
    for passage in (
        "Author: Personnel",
        "Twenty-five days of leave",
        "Ask early.\nAsk twice.",
        "term: What it means.",
        "Not in August.",
        "Days\nGrade: 1; Days: 20",
        "Region: Kanto; City: Tokyo\nCity: Chiba",
        "preread add .",
    ):
        assert passage in parsed.text


def test_what_docutils_does_not_know_is_kept_and_nothing_else_is_opened() -> None:
    text = parse(HANDBOOK.encode(), "handbook.rst").text
    assert ".. toctree::\n\n   travel" in text
    assert "a comment" not in text
    assert ".. include:: /etc/hostname" in text
    assert "Unknown" not in text


def test_sections_without_a_document_title_start_at_the_highest_level() -> None:
    parsed = parse(b"Intro.\n\nOne\n===\n\nA.\n\nTwo\n===\n\nB.\n\nTwo a\n-----\n\nC.\n", "a.rst")
    assert [(heading.level, heading.text) for heading in parsed.headings] == [(1, "One"), (1, "Two"), (2, "Two a")]
