"""The command line's errors.

PrereadError
├── Unavailable
│   └── NotRunning          the web process does not answer
├── Conflict
│   └── AlreadyRunning      another `preread up` owns this state folder
├── SetupError
│   ├── PortTaken           something else listens on one of our ports
│   ├── MemoryShort         the model would not fit
│   ├── ProgramMissing      a program that Preread starts is not installed
│   ├── NoApiKey            web wants an API key, and there is none here
│   ├── UnusableFolder      a folder cannot be written to, or belongs to someone else
│   └── ProcessFailed       a process died while starting, or again and again, or never became ready
├── BadInput
│   └── NothingToAdd        no file of a known type where the user pointed
└── Refused                 web answered with a problem; message and hint are its own
"""

from app.core.codes import Code
from app.core.errors import BadInput, Conflict, PrereadError, SetupError, Unavailable


class NotRunning(Unavailable):
    code = Code.NOT_RUNNING


class AlreadyRunning(Conflict):
    code = Code.ALREADY_RUNNING


class PortTaken(SetupError):
    code = Code.PORT_TAKEN


class MemoryShort(SetupError):
    code = Code.MEMORY_SHORT


class ProgramMissing(SetupError):
    code = Code.PROGRAM_MISSING


class NoApiKey(SetupError):
    code = Code.NO_API_KEY


class UnusableFolder(SetupError):
    code = Code.UNUSABLE_FOLDER


class ProcessFailed(SetupError):
    code = Code.PROCESS_FAILED


class NothingToAdd(BadInput):
    code = Code.NOTHING_TO_ADD


class Refused(PrereadError):
    code = Code.REFUSED

    def __init__(self, message: str, hint: str, problem_code: str) -> None:
        super().__init__(message, hint)
        self.problem_code = problem_code
