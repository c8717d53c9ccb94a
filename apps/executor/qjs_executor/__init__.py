"""The executor runs quantum programs, each in a sandboxed process that is used once, and serves its results over HTTP.

It knows backends, circuits and limits. It has no access to teams, money, the database or credentials.

Each package imports only from those before it; `tests/test_imports.py` keeps that order:

- `job`: what is to be executed, and the possible outcomes of an execution
- `isolation`: what the kernel offers to confine a process
- `child`: the code that runs inside an execution's process
- `zygote`: the processes that import the frameworks once and fork children
- `launcher`: the process with rights, which starts the others
- `protocol`: the messages between children and the shell, checked
- `sandbox`: the stock of ready children and the executions under way
- `service`: HTTP; it neither parses nor runs user code
"""

__version__ = "0.2.0"
