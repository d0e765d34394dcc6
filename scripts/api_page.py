"""Write docs/api.md from the routes, the models and the codes. A test says when it has to be run again."""

# ruff: noqa: INP001  (a script, in no package)

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fastapi.routing import APIRoute

import app.cli.errors
import app.web.access.strangers  # noqa: F401
import benchmarks.errors  # noqa: F401
import kernels.errors  # noqa: F401
import workers.internal_secret
import workers.sync_reading
import workers.sync_scan  # noqa: F401
from app.core.codes import Code
from app.core.errors import PrereadError
from app.core.remedies import REMEDIES
from app.core.settings import Settings
from app.web.access.guard import Needs, guards_of
from app.web.main import create_app
from app.web.openapi import CODES, Api
from app.web.stream import EVENT_NAMES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
INTRODUCTION = ROOT / "scripts" / "api_intro.md"

Schema = Mapping[str, Any]


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    application = create_app(Settings(_env_file=None, state_dir=Path(mkdtemp())))
    schema = application.openapi()
    parts = [INTRODUCTION.read_text().rstrip(), *_routes(application, schema), *_events(), *_models(schema), *_codes()]
    return "\n\n".join(parts) + "\n"


def _routes(application: Api, schema: Schema) -> Iterator[str]:
    yield "## Routes"
    routes = {route.unique_id: route for route in application.routes if isinstance(route, APIRoute)}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            yield "\n\n".join(_route(method.upper(), path, operation, routes[operation["operationId"]]))


def _route(method: str, path: str, operation: Schema, route: APIRoute) -> Iterator[str]:
    yield f"### `{method} {path}`"
    yield f"{operation['summary']}. {operation.get('description', '')}".strip()
    needs = [guard.permission for guard in guards_of(route) if isinstance(guard, Needs)]
    yield f"Permission: {f'`{needs[0]}`' if needs else 'none'}. Operation: `{operation['operationId']}`."
    if parameters := operation.get("parameters"):
        yield _table(
            ("parameter", "in", "type", ""),
            [(f"`{p['name']}`", p["in"], _type(p["schema"]), p.get("description", "")) for p in parameters],
        )
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body: {_type(content['schema'])} as `{media_type}`."
    yield _table(
        ("status", "", "body"),
        [(status, _meaning(response), _bodies(response)) for status, response in operation["responses"].items()],
    )


def _meaning(response: Schema) -> str:
    return ", ".join(f"[`{code}`](#codes)" for code in response.get(CODES, ())) or str(response["description"])


def _bodies(response: Schema) -> str:
    contents = response.get("content", {})
    return ", ".join(
        _type(content["schema"]) if media_type.endswith("json") else f"`{media_type}`"
        for media_type, content in contents.items()
    )


def _events() -> Iterator[str]:
    yield "## Events of a stream"
    yield (
        "`POST /ask` with `stream` answers as `text/event-stream`: `meta`, `sources`, `delta` any number of times,\n"
        "and then exactly one of `done` and `error`. Lines that begin with a colon are comments, to keep it open."
    )
    yield _table(
        ("event", "data"),
        [(f"`{name}`", f"[{model.__name__}](#{model.__name__.lower()})") for model, name in EVENT_NAMES.items()],
    )


def _models(schema: Schema) -> Iterator[str]:
    yield "## Models"
    for name, model in sorted(schema["components"]["schemas"].items()):
        if name == Code.__name__:
            continue
        yield f"### {name}"
        if "enum" in model:
            yield "One of " + ", ".join(f"`{value}`" for value in model["enum"]) + "."
            continue
        if (description := model.get("description")) is not None:
            yield " ".join(description.split())
        required = model.get("required", ())
        rows = [
            (f"`{field}`", _type(of), "" if field in required else "may be absent", of.get("description", ""))
            for field, of in model.get("properties", {}).items()
        ]
        yield _table(("field", "type", "", ""), rows)


def _codes() -> Iterator[str]:
    statuses = {error.code: error.status for error in _subclasses(PrereadError)}
    yield "## Codes"
    yield (
        "Of problems, of documents that have failed (`failure.code`), of jobs (`reason_code`) and of files that a\n"
        "sync passed over. The status is that of a problem with this code; what is never a problem has none."
    )
    rows = [(f"`{code}`", str(statuses.get(code, "")), code.meaning, REMEDIES.get(code, "")) for code in sorted(Code)]
    yield _table(("code", "status", "meaning", "what to do"), rows)


def _subclasses(error: type[PrereadError]) -> Iterator[type[PrereadError]]:
    yield error
    for below in error.__subclasses__():
        yield from _subclasses(below)


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return "[Code](#codes)" if name == Code.__name__ else f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(each) for each in schema[several])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = str(schema.get("format") or schema.get("type") or "any")
    bounds = ((" ≥ ", "minimum"), (" > ", "exclusiveMinimum"), (" ≤ ", "maximum"))
    return kind + "".join(f"{sign}{schema[bound]}" for sign, bound in bounds if bound in schema)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    cells = ((str(cell).replace("|", r"\|").replace("\n", " ") for cell in line) for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells).replace("|  |", "| |")


if __name__ == "__main__":
    main()
