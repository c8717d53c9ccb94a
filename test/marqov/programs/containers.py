"""Results inside lists, tuples and dicts, as arguments and in the result of the workflow, next to constants."""

from collections import namedtuple

import numpy as np

from marqov import task, workflow

Point = namedtuple("Point", "x y")


@task
def number(x):
    return np.float64(x) / 4


@task
def point(x, y):
    return (x, y)


@task
def table(rows):
    return np.array(rows)


@task
def keyed():
    return {1: "one", 2: "two"}


@task
def describe(data):
    return {
        "sum": sum(data["in"]["numbers"]),
        "points": [list(item) for item in data["points"]],
        "table": data["table"].T.tolist(),
        "place": [data["place"].x, data["place"].y],
        "keys": sorted(data["keyed"]),
        "none": data["none"],
    }


@workflow
def containers():
    a, b = number(1), number(10)
    told = describe(
        {
            "in": {"numbers": [a, b, 0.5]},
            "points": (point(1, a), point(b, 2)),
            "table": table([[1, 2], [3, 4]]),
            "place": Point(3, 4),
            "keyed": keyed(),
            "none": None,
        }
    )
    return {"told": told, "numbers": [a, {"b": b}], "pair": (a, "constant"), "constants": [True, None, 2.5, "text"]}
