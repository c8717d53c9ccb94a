"""A workflow that calls no task."""

from marqov import workflow


@workflow
def constants():
    return {"a": [1, 2.5, None, True], "text": "ü", "nested": {"pair": (1, 2)}}
