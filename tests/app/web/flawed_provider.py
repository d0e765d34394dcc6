"""An OpenID provider for tests: run with a port, it listens there on loopback.

Whoever is sent to /authorize is signed in as `somebody`; a parameter `flaw` says what shall be wrong with the id token.
/rotate makes new keys, /asked tells how often each path was asked for.
"""

import hashlib
import hmac
import json
import secrets
import sys
import time
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 0
ISSUER = f"http://127.0.0.1:{PORT}"
CLIENT_ID = "preread"

CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "expired": lambda claims: {**claims, "exp": time.time() - 600},
    "not_yet": lambda claims: {**claims, "nbf": time.time() + 600},
    "endless": lambda claims: without(claims, "exp"),
    "another_issuer": lambda claims: {**claims, "iss": "https://elsewhere.example.org"},
    "another_audience": lambda claims: {**claims, "aud": "another"},
    "another_party": lambda claims: {**claims, "aud": [CLIENT_ID, "another"], "azp": "another"},
    "another_nonce": lambda claims: {**claims, "nonce": "n-of-somebody-else"},
    "no_nonce": lambda claims: without(claims, "nonce"),
    "no_subject": lambda claims: without(claims, "sub"),
    "empty_subject": lambda claims: {**claims, "sub": ""},
    "endless_subject": lambda claims: {**claims, "sub": "s" * 300},
    "thin": lambda claims: without(claims, "groups"),
    "thin_and_mistaken": lambda claims: without(claims, "groups"),
}


def without(claims: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in claims.items() if key != name}


def encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


class State:
    def __init__(self) -> None:
        self.keys: list[RSAKey] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: Counter[str] = Counter()
        self.flaw = ""
        self.rotate()

    def rotate(self) -> None:
        self.keys = [RSAKey.generate_key(2048, auto_kid=True)]

    def id_token(self, attempt: dict[str, str]) -> str:
        flaw = attempt.get("flaw", "")
        now = time.time()
        claims: dict[str, Any] = {
            "iss": ISSUER,
            "aud": CLIENT_ID,
            "sub": "somebody",
            "iat": now,
            "exp": now + 300,
            "nonce": attempt["nonce"],
            "groups": ["staff"],
            "preferred_username": "some.body",
        }
        claims = CHANGES.get(flaw, lambda unchanged: unchanged)(claims)
        key = self.keys[0]
        header: dict[str, Any] = {"alg": "RS256", "kid": key.kid}
        if flaw == "foreign_key":
            key = RSAKey.generate_key(2048)
        if flaw == "unknown_key":
            key = RSAKey.generate_key(2048, auto_kid=True)
            header["kid"] = key.kid
        if flaw in ("unsigned", "shared_secret"):
            return self._weak(flaw, claims)
        token = jwt.encode(header, claims, key)
        return token[:-8] + "AAAAAAAA" if flaw == "damaged" else token

    def _weak(self, flaw: str, claims: dict[str, Any]) -> str:
        """Signed by nobody, or with the public key taken for a shared secret."""
        alg = "none" if flaw == "unsigned" else "HS256"
        header = {"alg": alg, "kid": self.keys[0].kid}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        if flaw == "unsigned":
            return f"{signed}."
        return f"{signed}.{encoded(hmac.digest(self.keys[0].as_pem(private=False), signed.encode(), 'sha256'))}"


STATE = State()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        STATE.asked[url.path] += 1
        match url.path:
            case "/.well-known/openid-configuration":
                self.answer(
                    {
                        "issuer": ISSUER,
                        "authorization_endpoint": f"{ISSUER}/authorize",
                        "token_endpoint": f"{ISSUER}/token",
                        "userinfo_endpoint": f"{ISSUER}/userinfo",
                        "jwks_uri": f"{ISSUER}/keys",
                    }
                )
            case "/keys":
                self.answer(KeySet(STATE.keys).as_dict(private=False))
            case "/authorize":
                code = secrets.token_urlsafe()
                STATE.codes[code] = query
                self.send_response(302)
                back = urlencode({"code": code, "state": query["state"]})
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.end_headers()
            case "/userinfo":
                somebody = "somebody" if STATE.flaw != "thin_and_mistaken" else "somebody else"
                self.answer({"sub": somebody, "groups": ["staff"]})
            case "/rotate":
                STATE.rotate()
                self.answer({})
            case "/asked":
                self.answer(dict(STATE.asked))
            case _:
                self.answer({}, 404)

    def do_POST(self) -> None:
        STATE.asked[self.path] += 1
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(sent).items()}
        attempt = STATE.codes.pop(form["code"], None)
        if attempt is None or attempt["redirect_uri"] != form["redirect_uri"]:
            return self.answer({"error": "invalid_grant", "error_description": "this code is not good"}, 400)
        if encoded(hashlib.sha256(form["code_verifier"].encode()).digest()) != attempt["code_challenge"]:
            return self.answer({"error": "invalid_grant", "error_description": "the verifier is another's"}, 400)
        STATE.flaw = attempt.get("flaw", "")
        if STATE.flaw == "broken":
            return self.answer({"error": "out of order"}, 500)
        if STATE.flaw == "no_token":
            return self.answer({"access_token": "a"})
        return self.answer({"id_token": STATE.id_token(attempt), "access_token": "a", "token_type": "Bearer"})

    def answer(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
