"""The API against its own OpenAPI document: generated requests, good and bad, of every operation.

Longer: PREREAD_SCHEMATHESIS_EXAMPLES=500 .venv/bin/python -m pytest tests/app/web/test_schemathesis.py
"""

import os

EXAMPLES = int(os.environ.get("PREREAD_SCHEMATHESIS_EXAMPLES", "15"))
