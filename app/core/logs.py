"""Log lines: JSON or text, each with the request it belongs to. One configuration for web, workers, beat and engine."""

import logging
from datetime import UTC, datetime
from logging.config import dictConfig
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from app.core.request_context import current_request
from app.core.settings import Settings

_NAMES = {"levelname": "level", "name": "logger", "exc_info": "exception", "stack_info": "stack"}
# At INFO these tell of every call, with its URL.
_TALKATIVE = ("httpx", "httpcore", "celery.utils.functional", "sentence_transformers", "urllib3", "opentelemetry")


class RequestFields(logging.Filter):
    """When it was (RFC 3339, UTC), which request a line is about, and of which tenant."""

    def filter(self, record: logging.LogRecord) -> bool:
        moment = datetime.fromtimestamp(record.created, UTC)
        record.time = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        request = current_request()
        record.request_id = request.request_id if request else None
        record.tenant = request.principal.tenant if request and request.principal else None
        return True


class JsonLines(JsonFormatter):
    """One object a line: time, level, logger, message, request_id, tenant, exception, and what else is told.

    What is not known is left out.
    """

    def __init__(self) -> None:
        super().__init__(["time", "levelname", "name", "message", "request_id", "tenant"], rename_fields=_NAMES)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in log_data.items() if value is not None}


class TextLines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(time)s %(levelname)s %(name)s%(about)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        request_id = getattr(record, "request_id", None)
        record.about = f" [{request_id}]" if request_id else ""
        return super().format(record)


def configure_logging(settings: Settings, level: str | int | None = None) -> None:
    """For this process: all that is logged goes to stderr, as `log_format` and `log_level`, or `level`, say."""
    dictConfig(logging_config(settings.log_format, settings.log_level if level is None else level))
    logging.captureWarnings(True)


def logging_config(log_format: str, level: str | int) -> dict[str, Any]:
    """As `logging.config.dictConfig` takes it, and vLLM from a file."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"request": {"()": "app.core.logs.RequestFields"}},
        "formatters": {
            "json": {"()": "app.core.logs.JsonLines"},
            "text": {"()": "app.core.logs.TextLines"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": log_format,
                "filters": ["request"],
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": "WARNING"} for name in _TALKATIVE},
    }


__all__ = ["JsonLines", "RequestFields", "TextLines", "configure_logging", "logging_config"]
