// Programs with tasks and workflows of the public SDK, as text. Each returns a value that a test can check.

const imports = 'import time\nfrom marqov import task, workflow\n'

/** A chain of ten tasks that each add one. The task at the position `slow` takes its time. */
export const slowChain = (slow: number, seconds: number) => `${imports}
@task
def step(value, place):
    if place == ${slow}:
        time.sleep(${seconds})
    return value + 1

@workflow
def chain():
    value = 0
    for place in range(1, 11):
        value = step(value, place)
    return value
`

/** Squares in parallel, and their sum. */
export const fanOut = (width: number) => `${imports}
@task
def square(x):
    return x * x

@task
def total(values):
    return sum(values)

@workflow
def fan_out():
    squares = [square(x) for x in range(${width})]
    return {"sum": total(squares), "squares": squares, "constant": [1, None, "text"], "big": 10**30}
`

/**
 * Fails until six and a half seconds have passed since the graph began: at the second attempt too, after one second, unless
 * the machine stalls; at the fourth, after waits of one, two and four seconds, it succeeds in any case.
 */
export const failsEarly = `${imports}
@task
def now():
    return time.time()

@task(retries=3)
def flaky(began):
    passed = time.time() - began
    if passed < 6.5:
        raise ConnectionError("not yet")
    return "at last"

@workflow
def patience():
    return flaky(now())
`

/** The task \`wrong\` fails while another one runs and a third waits for it. */
export const oneFails = `${imports}
@task
def good():
    return 1

@task
def wrong(x):
    raise ValueError("the angle is no number")

@task
def slow():
    time.sleep(60)

@task
def join(a, b):
    return a + b

@workflow
def half():
    return join(wrong(good()), slow())
`

export const outOfTime = `${imports}
@task(timeout=0.5)
def endless():
    while True:
        pass

@workflow
def never():
    return endless()
`

/** Dispatches two graphs, with ordinary Python, random numbers and the clock between them. */
export const twoDispatches = (seconds: number) => `import random, time, uuid
from marqov import task, workflow

@task
def slowly(x):
    time.sleep(${seconds})
    return x + 1

@task
def pair(x, y):
    return {"x": x, "y": (y, [x, y])}

@workflow
def first(x):
    return slowly(x)

@workflow
def second(x, y):
    return {"named": pair(x, y), "list": [pair(y, x)]}

async def main(client, params):
    salt = random.randrange(10**6)
    begun = time.time()
    token = str(uuid.uuid4())
    one = await first(salt).run(client)
    two = await second(one, 2).run(client)
    return {"salt": salt, "begun": begun, "token": token, "one": one, "two": two, "_summary": {"one": str(one)}}
`
