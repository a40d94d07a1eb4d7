"""A command that hears signals: whoever runs the tests may ignore some, as nohup does, and children inherit that."""

import os

_POSIX = (
    "import signal; "
    "signal.signal(signal.SIGINT, signal.default_int_handler); "
    "[signal.signal(each, signal.SIG_DFL) for each in (signal.SIGTERM, signal.SIGHUP)]; "
)
HEARING = "" if os.name == "nt" else _POSIX
