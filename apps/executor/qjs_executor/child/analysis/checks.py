"""Finds what will probably fail in a job: missing packages, network, files, decisions on results."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable

from .findings import Caution, shown
from .functions import Function
from .names import Names

IMPORTS_MAX = 200
"""Each name is looked up on the disk; no real script imports more."""

_NETWORK = (
    "aiohttp",
    "boto3",
    "botocore",
    "braket.aws",
    "ftplib",
    "grpc",
    "http.client",
    "http.server",
    "httpx",
    "paramiko",
    "qiskit_ibm_runtime",
    "requests",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "urllib.request",
    "urllib3",
    "websocket",
    "websockets",
)
_FILE_FUNCTIONS = frozenset(
    f"os.{name}"
    for name in (
        "open",
        "remove",
        "unlink",
        "rename",
        "replace",
        "mkdir",
        "makedirs",
        "rmdir",
        "listdir",
        "scandir",
        "walk",
    )
) | {"numpy.load", "numpy.loadtxt", "numpy.save", "numpy.savetxt", "numpy.savez", "pandas.read_csv", "io.open"}
_FILE_PACKAGES = frozenset({"shutil", "tempfile"})
_FILE_METHODS = frozenset({"read_text", "write_text", "read_bytes", "write_bytes"})
_FILE_METHODS_BY_NAME = frozenset({"savefig", "to_csv", "to_json", "tofile", "to_pickle"})
"""These functions also write to a buffer; a text as their first argument is a file's name."""
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_SHOWN_MAX = 5


def imported_packages(nodes: list[ast.AST]) -> list[str]:
    """Top-level names of what a program imports, sorted; at most IMPORTS_MAX."""
    found = {name.partition(".")[0] for node in nodes for name in _modules(node)}
    return sorted(found)[:IMPORTS_MAX]


def import_cautions(nodes: list[ast.AST]) -> list[Caution]:
    """Imports that will fail. An import in a `try` with a handler for its failure is left to the program."""
    handled = _handled_imports(nodes)
    first_line: dict[str, int] = {}
    cautions: list[Caution] = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            message = "a relative import: a script is a single module, so there is nothing to import from"
            cautions.append(Caution("relative_import", message, node.lineno))
        elif isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in handled:
            for name in _modules(node):
                package = name.partition(".")[0]
                first_line[package] = min(first_line.get(package, node.lineno), node.lineno)
    if len(first_line) > IMPORTS_MAX:
        message = f"only {IMPORTS_MAX} of {len(first_line)} imported packages were looked up"
        cautions.append(Caution("more_imports", message))
    missing = [name for name in sorted(first_line)[:IMPORTS_MAX] if not is_installed(name)]
    return cautions + [
        Caution(
            "import_not_installed",
            f"'{shown(name)}' is not installed, and nothing is installed at run time; use a package that is there",
            first_line[name],
        )
        for name in missing
    ]


def is_installed(package: str) -> bool:
    """Whether a top-level package or module can be imported here; it is not imported to find out."""
    if package in sys.stdlib_module_names or package == "__main__":
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def network_cautions(nodes: list[ast.AST]) -> list[Caution]:
    """The first use of a package that needs a network."""
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _modules(node, with_members=True):
                package = next((item for item in _NETWORK if name == item or name.startswith(f"{item}.")), None)
                if package:
                    found[package] = min(found.get(package, node.lineno), node.lineno)
    return _one("network_use", found, "a job has no network: {} cannot reach anything")


def file_cautions(nodes: list[ast.AST], names: Names) -> list[Caution]:
    """The first use of files."""
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.Call):
            name = _file_use(node, names, own)
            if name:
                found[name] = min(found.get(name, node.lineno), node.lineno)
    message = "a job starts in an empty folder that is deleted at its end: {} finds and leaves nothing there"
    return _one("file_use", found, message)


def decision_cautions(functions: list[Function]) -> list[Caution]:
    """Workflows that branch or loop on the result of a task, which is not known while the graph is built."""
    tasks = {function.name for function in functions if function.is_task}
    cautions: list[Caution] = []
    for function in functions:
        if not function.is_workflow or function.node is None:
            continue
        inner = list(ast.walk(function.node))
        results = {
            target.id
            for node in inner
            if isinstance(node, ast.Assign) and _is_call_of(node.value, tasks)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        lines = [
            node.lineno
            for node in inner
            if isinstance(node, ast.If | ast.While | ast.For | ast.IfExp)
            and _decides_on(node.iter if isinstance(node, ast.For) else node.test, results, tasks)
        ]
        if lines:
            message = (
                f"the workflow '{shown(function.name)}' decides on the result of a task, which is not known while its"
                " graph is built; decide inside a task"
            )
            cautions.append(Caution("decision_on_result", message, min(lines)))
    return cautions


def _decides_on(test: ast.expr, results: set[str], tasks: set[str]) -> bool:
    waiting: list[ast.expr] = [test]
    while waiting:
        node = waiting.pop()
        if (isinstance(node, ast.Name) and node.id in results) or _is_call_of(node, tasks):
            return True
        if isinstance(node, ast.BoolOp):
            waiting += node.values
        elif isinstance(node, ast.UnaryOp):
            waiting.append(node.operand)
        elif isinstance(node, ast.BinOp):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.Subscript):
            waiting.append(node.value)
        elif isinstance(node, ast.Compare) and not all(isinstance(item, ast.Is | ast.IsNot) for item in node.ops):
            waiting += [node.left, *node.comparators]
    return False


def _is_call_of(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _modules(node: ast.AST, with_members: bool = False) -> Iterable[str]:
    """Absolute dotted names of the modules that an import names, with the names that it takes from them if
    requested."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names] if with_members else [node.module]
    return []


def _handled_imports(nodes: list[ast.AST]) -> set[int]:
    handled: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Try) and any(_handles_import(handler) for handler in node.handlers):
            handled |= {id(item) for item in node.body if isinstance(item, ast.Import | ast.ImportFrom)}
    return handled


def _handles_import(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _IMPORT_ERRORS) for kind in kinds)


def _file_use(node: ast.Call, names: Names, own: set[str]) -> str | None:
    function = node.func
    if isinstance(function, ast.Name) and function.id == "open" and "open" not in own and not names.is_imported("open"):
        return "open()"
    path = names.path(function)
    if path is not None and (path in _FILE_FUNCTIONS or path.partition(".")[0] in _FILE_PACKAGES):
        return f"{path}()"
    if isinstance(function, ast.Attribute):
        named = bool(node.args) and (
            isinstance(node.args[0], ast.JoinedStr)
            or (isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str))
        )
        if function.attr in _FILE_METHODS or (function.attr in _FILE_METHODS_BY_NAME and named):
            return f"{function.attr}()"
    return None


def _one(kind: str, found: dict[str, int], message: str) -> list[Caution]:
    if not found:
        return []
    listed = ", ".join(shown(name) for name in sorted(found, key=found.__getitem__)[:_SHOWN_MAX])
    return [Caution(kind, message.format(listed), min(found.values()))]
