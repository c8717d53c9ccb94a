// Native programs with the public client: a source, the function to call with its arguments, and the exact results of its
// tasks.
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import type { Raised } from '../support/jobs/marqov.js'
import { longTest } from '../support/lane.js'
import { type LossyProxy, startProxy } from './proxy.js'
import { PAID, type Scene } from './scene.js'

const SOURCE = `from marqov import Circuit, get_device, task, workflow

@task
def f(x):
    return x + 1

@task(retries=1)
def joined(*values, sep="-"):
    return sep.join(str(value) for value in values)

@task
def flipped(shots):
    return get_device(params).run(Circuit().x(0).x(2).x(2), shots)

@task
def drawn():
    return Circuit().h(0)

@task
def broken(x):
    raise ValueError(f"{x} is not even")

@workflow
def wf(x):
    return f(x)

@workflow
def diamond(x, sep):
    left, right = f(x), f(f(x))
    return {"both": joined(left, right, sep=sep), "again": [left, left], "constant": 7}

@workflow
def constants():
    f(1)
    return {"a": [1, 2]}

@task
def lengths(*texts):
    return [len(text) for text in texts]

@workflow
def measured(*texts):
    return lengths(*texts)

@workflow
def counts(shots):
    return flipped(shots)

@workflow
def circuit():
    return [drawn(), f(1)]

@workflow
def failing(x):
    return joined(broken(x), f(x))
`

interface Output {
  task_key: string
  port: string
  artifact: { artifact_id: string; team_id: string; schema: string; sha256: string; size_bytes: number }
  display: { protocol_version: string; result_sha256: string; state: string; value?: unknown; reason?: string }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const NATIVE = 'connect(url, key).submit_native(team_id=team, source=source, cap_cents=100, '
/** Values beyond 2^53 are returned as text. */
const SHOWN = `
import json
def exact(value):
    return str(value) if type(value) is int and abs(value) > 2**53 else value
def shown(raw):
    return json.loads(json.dumps(raw), parse_int=lambda text: exact(int(text)))
`

export function checkNative(scene: () => Scene): void {
  const names = (more: Record<string, unknown> = {}) => ({
    ...scene().there,
    team: scene().teamId,
    source: SOURCE,
    ...more
  })
  /** The result of a call that has completed. */
  const outputs = (call: string, more: Record<string, unknown> = {}): Promise<{ id: string; outputs: Output[] }> =>
    scene().python.run(
      `${SHOWN}
job = ${NATIVE}${call})
raw = job.result(60, poll_interval=0.1).raw
assert raw["protocol_version"] == "marqov.managed-result/v1" and set(raw) == {"protocol_version", "outputs"}
return {"id": job.id, "outputs": shown(raw["outputs"])}`,
      names(more)
    )
  const refusal = (call: string, more: Record<string, unknown> = {}): Promise<Raised> =>
    scene().python.refusal(`${NATIVE}${call})`, names(more))
  const failure = (call: string): Promise<Raised> =>
    scene().python.refusal(`${NATIVE}${call}).result(60, poll_interval=0.1)`, names())
  const values = (outcome: Output[]) => outcome.map(({ display }) => display.value)

  describe('the runtimes of a team', () => {
    test('exist for every backend that accepts jobs, in both models', async () => {
      const runtimes = await scene().python.run<{ backend: string; programming_model: string }[]>(
        'return connect(url, key).managed_runtimes(team)',
        names()
      )
      expect(runtimes).toContainEqual({
        backend: 'marqov-sim',
        programming_model: 'native_workflow',
        min_cap_cents: 1,
        max_cap_cents: 10_000
      })
      expect(runtimes).toContainEqual({
        backend: PAID,
        programming_model: 'single_task',
        // A cent a shot, and a thousand shots.
        min_cap_cents: 1_000,
        max_cap_cents: 10_000
      })
    })

    test('of another team are not found, and without a team there are none', async () => {
      const outcome = await scene().python.refusal(
        'connect(url, key).managed_runtimes(team)',
        names({ team: randomUUID() })
      )
      expect(outcome).toMatchObject({ type: 'MarqovPlatformError', code: 'not_found', status: 404 })
      for (const query of ['', '?team_id=mine', '?team_id='])
        expect((await scene().platform.call('GET', `/api/jobs/managed-runtimes${query}`)).status).toBe(400)
    })
  })

  describe('a native program', () => {
    test('returns integers beyond 2^53 exactly, once for the same key, and another call with it is a conflict', async () => {
      const { ids, value, conflict, jobs } = await scene().python.run<Record<string, unknown>>(
        `
        operation = "${randomUUID()}"
        client = connect(url, key)
        count = lambda: client._transport.request("GET", "/api/jobs", params={"team_id": team, "limit": 1})["total"]
        before = count()
        call = lambda n: client.submit_native(
            team_id=team, entrypoint="wf", source=source, args=[n], cap_cents=100, idempotency_key=operation
        )
        a, b = call(10**30), call(10**30)
        value = str(a.result(60, poll_interval=0.1).raw["outputs"][0]["display"]["value"])
        try:
            call(2)
        except MarqovPlatformError as error:
            return {"ids": [a.id, b.id], "value": value, "conflict": error.code, "jobs": count() - before}
        `,
        names()
      )
      const [first, second] = ids as string[]
      expect(first).toBe(second)
      expect({ value, conflict, jobs }).toEqual({
        value: `1${'0'.repeat(29)}1`,
        conflict: 'idempotency_conflict',
        jobs: 1
      })
    })

    test('is described with all that a caller needs to find the value again', async () => {
      const { id, outputs: outcome } = await outputs('entrypoint="wf", args=[41]')
      const [{ artifact }] = outcome as [Output]
      expect(outcome).toEqual([
        {
          task_key: 'task_0001',
          port: 'result',
          artifact: {
            artifact_id: expect.stringMatching(UUID),
            team_id: scene().teamId,
            schema: 'python-value/v1',
            sha256: sha256('42'),
            size_bytes: 2
          },
          display: {
            protocol_version: 'marqov.task-display/v1',
            result_sha256: sha256('42'),
            state: 'available',
            value: 42
          }
        }
      ])
      const listed = (await scene().ask('GET', `/api/jobs/${id}/artifacts`)).artifacts as Record<string, unknown>[]
      expect(listed).toContainEqual({
        name: 'task_0001.json',
        sha256: artifact.sha256,
        size_bytes: 2,
        media_type: 'application/json',
        url: `/api/jobs/${id}/artifacts/task_0001.json`
      })
      expect(await (await scene().platform.call('GET', `/api/jobs/${id}/artifacts/task_0001.json`)).text()).toBe('42')
      expect(await scene().ask('GET', `/api/jobs/${id}`)).toMatchObject({
        status: 'completed',
        execution_mode: 'temporal',
        actual_cost_usd: 0,
        source: { kind: 'inline', sha256: sha256(SOURCE) }
      })
    })

    longTest('from the documentation prints the documented output', async () => {
      const text = readFileSync(join(projectRoot, 'docs/clients/python-client.md'), 'utf8')
      const [, , program] = text.split('```python\n').map((block) => block.split('```')[0]!)
      const outcome = /print\(.*\) {2}# (.*)\n/.exec(program!)![1]
      const code = `
        outcome = []
        exec(program, {"client": connect(url, key), "TEAM": team, "print": lambda value: outcome.append(str(value))})
        return outcome
      `
      expect(await scene().python.run(code, names({ program }))).toEqual([outcome])
    })

    longTest('accepts and returns integers of 4,300 digits', async () => {
      const { outputs: outcome } = await outputs('entrypoint="wf", kwargs={"x": 10**4299}')
      expect(values(outcome)).toEqual([`1${'0'.repeat(4_298)}1`])
    })

    longTest(
      'can have a source of 1 MiB and an input of 1 MiB if the body is below 4 MiB',
      async () => {
        const { outputs: outcome } = await outputs('entrypoint="measured", args=[quotes, "x" * 1000]', {
          // Each line end and each quote takes two characters in the body, and four in the input.
          source: SOURCE + '\n'.repeat(1_048_576 - SOURCE.length),
          quotes: '"'.repeat(490_000)
        })
        expect(values(outcome)).toEqual([[490_000, 1_000]])
      },
      60_000
    )

    test('refuses by name a value that imitates the service’s own markers', async () => {
      for (const mark of ['"__proxy__": True, "node_id": "task_0001"', '"__cloudpickle__": True, "data": 5'])
        expect(await failure(`entrypoint="wf", args=[{${mark}}]`)).toMatchObject({
          type: 'JobFailed',
          message: expect.stringMatching(/__proxy__|__cloudpickle__/)
        })
    })

    test('lists each returned result once, in the order of the return value', async () => {
      const { outputs: outcome } = await outputs('entrypoint="diamond", args=[1], kwargs={"sep": "é🔑\\n\\u2028"}')
      expect(outcome.map(({ task_key }) => task_key)).toEqual(['task_0004', 'task_0001'])
      expect(values(outcome)).toEqual(['2é🔑\n\u20283', 2])
    })

    test('that returns only constants has no output', async () => {
      expect((await outputs('entrypoint="constants"')).outputs).toEqual([])
    })

    longTest('that is a single task is called as a workflow of one', async () => {
      const { outputs: outcome } = await outputs('entrypoint="joined", args=[1, [2]], programming_model="single_task"')
      expect(values(outcome)).toEqual(['1-[2]'])
    })

    test('runs circuits on its backend, qubit 0 leftmost', async () => {
      const { outputs: outcome } = await outputs('entrypoint="counts", args=[50], backend="aer-statevector"')
      expect(values(outcome)).toEqual([{ '100': 50 }])
    })

    longTest('whose value is not JSON shows the reason instead, and keeps the value', async () => {
      const { id, outputs: outcome } = await outputs('entrypoint="circuit"')
      expect(outcome[0]!.display).toEqual({
        protocol_version: 'marqov.task-display/v1',
        result_sha256: outcome[0]!.artifact.sha256,
        state: 'unavailable',
        reason: expect.stringContaining('Circuit')
      })
      expect(outcome[1]!.display).toMatchObject({ state: 'available', value: 2 })
      const file = await scene().platform.call('GET', `/api/jobs/${id}/artifacts/task_0001.json`)
      expect(sha256(await file.text())).toBe(outcome[0]!.artifact.sha256)
    })

    test('that is saved runs unchanged, only if its hash matches', async () => {
      const { jobs, refusals } = await scene().python.run<{
        jobs: unknown[]
        refusals: { code: string; status: number; message: string; key: string }[]
      }>(
        `
        import hashlib, uuid
        client = connect(url, key)
        saved = client.save_script(source, name="native programs", script_type="workflow")["script_id"]
        submit = lambda **more: client.submit_native(
            team_id=team, script_id=saved, entrypoint="wf", args=[1], cap_cents=100, **more
        )
        digest = hashlib.sha256(source.encode()).hexdigest()
        jobs = [submit().result(60, poll_interval=0.1).raw, submit(source_sha256=digest).result(60, poll_interval=0.1).raw]
        refusals = []
        for more in [{"source_sha256": "0" * 64}, {"script": str(uuid.uuid4())}]:
            saved = more.pop("script", saved)
            try:
                submit(**more)
            except MarqovPlatformError as error:
                refusals.append({
                    "code": error.code, "status": error.status, "message": error.message, "key": error.idempotency_key
                })
        return {"jobs": [raw["outputs"][0]["display"]["value"] for raw in jobs], "refusals": refusals}
        `,
        names()
      )
      expect(jobs).toEqual([2, 2])
      expect(refusals).toEqual([
        {
          code: 'conflict',
          status: 409,
          message: expect.stringContaining('source_sha256: the saved script has changed'),
          key: expect.stringMatching(UUID)
        },
        {
          code: 'not_found',
          status: 404,
          message: 'source.script_id: no such script',
          key: expect.stringMatching(UUID)
        }
      ])
    })

    test.each([
      ['a task fails, with its reason and its name', 'entrypoint="failing", args=[3]', /broken.*3 is not even/s],
      ['the function is not there', 'entrypoint="nosuch"', /nosuch.*wf|wf.*nosuch/s],
      ['the function is a task', 'entrypoint="f", args=[1]', /'?f'?/],
      ['a task is named that is a workflow', 'entrypoint="wf", args=[1], programming_model="single_task"', /wf/],
      ['the arguments do not fit', 'entrypoint="wf", args=[1, 2]', /wf/]
    ])('fails with JobFailed when %s', async (_name, call, message) => {
      expect(await failure(call)).toMatchObject({
        type: 'JobFailed',
        code: 'failed',
        message: expect.stringMatching(message)
      })
    })
  })

  describe('a native submission is refused before anything is recorded', () => {
    const nothing = async (asked: Promise<Raised>) => {
      const before = await scene().jobs(scene().teamId)
      const outcome = await asked
      expect(await scene().jobs(scene().teamId)).toBe(before)
      return outcome
    }

    test('for a backend that is not among the runtimes', async () => {
      expect(await nothing(refusal('entrypoint="wf", backend="tn1"'))).toMatchObject({
        type: 'MarqovPlatformError',
        code: 'runtime_not_enabled',
        message: expect.stringContaining('marqov-sim/native_workflow')
      })
    })

    test('by the client itself, for a cap below the price of the backend', async () => {
      expect(await nothing(refusal(`entrypoint="wf", backend="${PAID}"`))).toMatchObject({
        type: 'ValueError',
        message: expect.stringContaining('1000 and 10000')
      })
    })

    test('for a paid backend with a key of tier simulate', async () => {
      const call = `connect(url, key).submit_native(
        team_id=team, source=source, entrypoint="wf", args=[1], backend="${PAID}", cap_cents=1000)`
      expect(await nothing(scene().python.refusal(call, names()))).toMatchObject({
        type: 'PermissionTierError',
        code: 'permission_denied',
        idempotency_key: expect.stringMatching(UUID)
      })
    })

    test('for fields that only other clients can send, with their names', async () => {
      const call = `
        connect(url, key)._transport.request("POST", "/api/jobs/submit", idempotent_write=True, json={
            "protocol_version": "marqov.public-submission/v1", "team_id": team, "backend": "marqov-sim",
            "programming_model": "native_workflow", "cap_cents": 1, "analysis_id": None, "shots": 5,
            "source": {"kind": "inline", "content": source},
            "input": '{"entrypoint": "wf", "args": [], "kwargs": {}}',
        }, idempotency_key="${randomUUID()}")`
      expect(await nothing(scene().python.refusal(call, names()))).toMatchObject({
        type: 'InvalidProgram',
        code: 'validation_error',
        message: 'shots: is not a field of this request'
      })
    })
  })

  describe('when a response is lost', () => {
    let proxy: LossyProxy
    beforeAll(async () => {
      proxy = await startProxy(scene().there.url)
    })
    afterAll(() => proxy.close())

    const jobs = () => scene().jobs(scene().teamId)
    const submit = (key: string) =>
      `connect(url, key).submit_native(team_id=team, source=source, entrypoint="wf", args=[1], cap_cents=100, idempotency_key="${key}")`

    test('one job is created, whatever the proxy returns instead', async () => {
      const before = await jobs()
      proxy.fates.push('pass', { status: 503, when: 'after' }, { status: 502, when: 'after' })
      await scene().python.run(`return ${submit(randomUUID())}.id`, names({ url: proxy.url }))
      expect(await jobs()).toBe(before + 1)
    })

    longTest('and its connection too, the client names the key, which returns the receipt again', async () => {
      const before = await jobs()
      const key = randomUUID()
      proxy.fates.push('pass', 'lost')
      expect(await scene().python.refusal(submit(key), names({ url: proxy.url }))).toMatchObject({
        type: 'TransportError',
        idempotency_key: key
      })
      const value = await scene().python.run(
        `return ${submit(key)}.result(60, poll_interval=0.1).raw["outputs"][0]["display"]["value"]`,
        names({ url: proxy.url })
      )
      expect(value).toBe(2)
      expect(await jobs()).toBe(before + 1)
    })
  })
}
