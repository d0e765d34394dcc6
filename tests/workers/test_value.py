from hypothesis import given
from hypothesis import strategies as st

from app.core.catalog import Asked
from workers.value import by_value


def test_what_is_asked_for_most_comes_first():
    asked = {"never": (0, 0), "hit": (9, 0), "missed": (0, 9), "much": (8, 8), "late": (0, 0)}
    documents = [Asked(name, hits, misses) for name, (hits, misses) in asked.items()]
    assert by_value(documents) == ["much", "missed", "hit", "never", "late"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20))
def test_every_document_is_there_once_and_none_before_one_that_is_asked_for_more(counts):
    documents = [Asked(str(number), hits, misses) for number, (hits, misses) in enumerate(counts)]
    order = by_value(documents)
    assert sorted(order) == sorted(each.document_id for each in documents)
    asked = {each.document_id: each.hits + each.misses for each in documents}
    assert [asked[each] for each in order] == sorted(asked.values(), reverse=True)
