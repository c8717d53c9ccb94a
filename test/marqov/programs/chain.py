"""Results that feed the next task, in a chain, with text that needs escaping."""

from marqov import task, workflow


@task
def append(text, number):
    return f'{text}\n"{number}" \\ ü {chr(0x1F600)}'


@workflow
def chain(length=5):
    text = ""
    for number in range(length):
        text = append(text, number)
    return text
