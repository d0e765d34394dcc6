"""The marks in time that counts are kept by."""

from datetime import UTC, datetime, timedelta

FIVE_MINUTES = timedelta(minutes=5)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def bucket_start(moment: datetime, size: timedelta = FIVE_MINUTES) -> datetime:
    """The latest mark (UTC) at or before an aware moment."""
    return _EPOCH + (moment - _EPOCH) // size * size


__all__ = ["FIVE_MINUTES", "bucket_start"]
