from typing import Annotated

from fastapi import APIRouter, Query

from app.core.catalog import AnswerNotFound, Rating
from app.web.access.guard import ADMIN, ASK
from app.web.deps import FeedbackDep, Limit, Offset
from app.web.openapi import problems
from app.web.routes.ask import RequestId
from app.web.schemas.feedback import FeedbackIn, FeedbackOut, FeedbackPageOut

router = APIRouter(tags=["feedback"])


@router.post(
    "/ask/{request_id}/feedback",
    operation_id="give_feedback",
    dependencies=[ASK],
    summary="Say what an answer was worth",
    responses=problems(AnswerNotFound),
)
def give_feedback(request_id: RequestId, given: FeedbackIn, desk: FeedbackDep) -> FeedbackOut:
    """For whoever asked; said again, it takes the place of what was said before."""
    return desk.give(request_id, given)


@router.get(
    "/admin/feedback",
    operation_id="list_feedback",
    dependencies=[ADMIN],
    summary="What users thought of answers, newest first",
)
def list_feedback(
    desk: FeedbackDep,
    rating: Annotated[Rating | None, Query(description="Only this rating.")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> FeedbackPageOut:
    return desk.page(rating, limit, offset)
