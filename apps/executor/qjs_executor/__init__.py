"""The executor runs quantum programs, each in a sandboxed process that is used once, and serves its results over HTTP.

It knows backends, circuits and limits. It knows no team, no money, no database and no credential.

Each package imports only from those before it; `tests/test_imports.py` keeps that order:

- `job`: what is to be executed, and what an execution can come to
- `isolation`: what the kernel offers to confine a process
- `child`: what happens inside an execution's process
- `zygote`: the processes that import the frameworks once and fork children
- `launcher`: the process with rights, which starts the others
- `protocol`: what children and the shell say to each other, checked
- `sandbox`: the stock of ready children and the executions under way
- `service`: HTTP; it neither parses nor runs what a user wrote
"""

__version__ = "0.2.0"
