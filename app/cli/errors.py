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

from app.core.errors import BadInput, Conflict, PrereadError, SetupError, Unavailable


class NotRunning(Unavailable):
    code = "not_running"


class AlreadyRunning(Conflict):
    code = "already_running"


class PortTaken(SetupError):
    code = "port_taken"


class MemoryShort(SetupError):
    code = "memory_short"


class ProgramMissing(SetupError):
    code = "program_missing"


class NoApiKey(SetupError):
    code = "no_api_key"


class UnusableFolder(SetupError):
    code = "unusable_folder"


class ProcessFailed(SetupError):
    code = "process_failed"


class NothingToAdd(BadInput):
    code = "nothing_to_add"


class Refused(PrereadError):
    code = "refused"

    def __init__(self, message: str, hint: str, problem_code: str) -> None:
        super().__init__(message, hint)
        self.problem_code = problem_code
