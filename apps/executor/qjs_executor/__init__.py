"""The executor: runs quantum jobs in single-use sandboxed children and answers over HTTP on loopback.

It knows backends, circuits and limits; it knows no team, no money, no database and no credential.
Modules without a leading underscore live in the HTTP process, which never parses or runs what a user wrote.
Modules with one live in the child of a run.
"""

__version__ = "0.1.0"
