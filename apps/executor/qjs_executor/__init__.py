"""The executor: runs quantum jobs in single-use sandboxed children and answers over HTTP on loopback.

It knows backends, circuits and limits; it knows no team, no money, no database and no credential.
`launcher` keeps the rights, `service` speaks HTTP (neither parses or runs what a user wrote), `sandbox` confines, and
`child` lives in the child of a run.
"""

__version__ = "0.2.0"
