"""Feedback as the API handles it. Blocking: routes call it in a thread."""

from dataclasses import asdict

from app.core.access import Principal
from app.core.catalog import Feedback, Rating
from app.web.schemas.feedback import FeedbackIn, FeedbackOut, FeedbackPageOut
from app.web.services import Services


class FeedbackDesk:
    """Takes a principal's feedback on its own answers, and shows all of its tenant's."""

    def __init__(self, services: Services, principal: Principal) -> None:
        self._catalog = services.catalog
        self._tenant = principal.tenant
        self._owner = principal.id

    def give(self, request_id: str, given: FeedbackIn) -> FeedbackOut:
        """The last one counts. Raises AnswerNotFound."""
        kept = self._catalog.give_feedback(
            self._tenant, self._owner, request_id, given.rating, given.reason, given.comment
        )
        return _out(kept)

    def page(self, rating: Rating | None, limit: int, offset: int) -> FeedbackPageOut:
        page = self._catalog.feedback(self._tenant, limit, offset, rating)
        counts = {str(each): count for each, count in page.counts.items()}
        return FeedbackPageOut(items=[_out(each) for each in page.items], total=page.total, counts=counts)


def _out(feedback: Feedback) -> FeedbackOut:
    return FeedbackOut(**asdict(feedback))
