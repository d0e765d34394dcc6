"""uvicorn's HTTP protocol, whose own refusals are problem objects too."""

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from app.core.ids import new_id
from app.core.request_context import REQUEST_ID_HEADER
from app.web.http_errors import BadRequest
from app.web.problems import problem_of, respond


class ProblemProtocol(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # chosen by what is installed
    """Only what cannot be parsed as HTTP is answered here; all else reaches the application."""

    def send_400_response(self, _message: str) -> None:
        error = BadRequest("This is no HTTP/1.1 request.", "See to the client, or to what is in between.")
        request_id = new_id("http")
        problem = problem_of(error, "/").model_copy(update={"request_id": request_id})
        response = respond(problem, {REQUEST_ID_HEADER: request_id, "Connection": "close"})
        headers = b"".join(name + b": " + value + b"\r\n" for name, value in response.raw_headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + headers + b"\r\n" + bytes(response.body))
        self.transport.close()
