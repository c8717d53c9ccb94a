// Scripts whose circuits run at a provider: each circuit is sent once, its money is reserved before it is sent, and the
// end of the script cancels its circuits. The emulator's ledger shows what was paid.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import type { FaultOrder } from '../../../apps/emulators/faults.js'
import { changeTeamBudget } from '../../../db/money/budget.js'
import { eventually } from '../../support/eventually.js'
import { longTest, rowsOfLane, testOfRow } from '../../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'
import { isFirst, providers, requestsTo, titleOf } from '../../support/stack/provider-rows.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-scripts', { providers: providers.map(({ name }) => name) })
}, 240_000)

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const DAY_MS = 86_400_000

/** One circuit after the other, each with another qubit set. */
const inTurn = (circuits: number) => `
from qiskit import QuantumCircuit

def main(shots):
    seen = []
    for n in range(${circuits}):
        circuit = QuantumCircuit(3)
        circuit.x(n % 3)
        seen.append(device.run(circuit, shots))
    return {"seen": seen}
`

/** Two tasks that each run a circuit, in parallel. */
const sideBySide = `
from marqov import task, workflow

@task
def sample(bit):
    from qiskit import QuantumCircuit
    circuit = QuantumCircuit(2)
    circuit.x(bit)
    return device.run(circuit, 100)

@task
def both(first, second):
    return {"first": first, "second": second}

@workflow
def pair():
    return both(sample(0), sample(1))
`

const catching = `
from qiskit import QuantumCircuit

def main(shots):
    circuit = QuantumCircuit(1)
    circuit.x(0)
    said = []
    for _ in range(2):
        try:
            said.append(device.run(circuit, shots))
        except RuntimeError as error:
            said.append(str(error))
    return {"said": said}
`

const expected = (circuits: number) =>
  Array.from({ length: circuits }, (_, n) => ({ [['100', '010', '001'][n % 3]!]: 100 }))

const spentToday = async () => (await platform.budget()).day.spent_usd

const reservations = async (id: string) => [
  ...(await platform.connection.db.execute(
    sql`select task, attempt, amount_micro::text as amount from ledger where job_id = ${id} and kind = 'reserve'
      order by at, task, attempt`
  ))
]

/** Sets the team's daily limit to this much above what it has spent already. */
async function withLeftToday(usd: number, act: () => Promise<void>): Promise<void> {
  const { db } = platform.connection
  await changeTeamBudget(db, platform.teamId, { daily: BigInt(Math.round(((await spentToday()) + usd) * 1e6)) })
  try {
    await act()
  } finally {
    await changeTeamBudget(db, platform.teamId, { daily: 1_000_000_000n })
  }
}

describe.each(providers)('$name', (provider) => {
  const { name, submitting, looking, fetching, cancelled } = provider
  const title = titleOf(provider)
  const oftenTest = testOfRow(isFirst(provider))
  const control = () => platform.provider(name)
  /** Each circuit has 100 shots and costs 1.30 USD. */
  const run = (inline_code: string, body: Record<string, unknown> = {}) =>
    platform.submitAt(name, { circuit: undefined, inline_code, ...body })
  const steps: Record<string, FaultOrder> = {
    'its circuit has not arrived': { match: submitting, kind: 'hang' },
    'its circuit was accepted, and the answer is under way': { match: submitting, kind: 'hang_after' },
    'it asks for the status of its circuit': { match: looking, kind: 'hang' },
    'it fetches the counts of its circuit': { match: fetching, kind: 'lag', lag_ms: 60_000, times: 2 }
  }
  beforeEach(() => control().reset())

  test('each circuit of a script runs once and is paid; what the submission did not reserve is reserved on request', async () => {
    const before = await platform.money()
    const id = await run(inTurn(3))
    expect(await platform.ended(id)).toMatchObject({
      status: 'completed',
      result: { seen: expected(3) },
      estimated_cost_usd: 1.3,
      actual_cost_usd: 3.9,
      attempts: 1,
      provider_jobs: [{ status: 'completed' }, { status: 'completed' }, { status: 'completed' }]
    })
    expect(control().tasks()).toHaveLength(3)
    expect((await platform.money()).spent - before.spent).toBeCloseTo(3.9, 6)
    expect(await reservations(id)).toEqual([
      { task: '', attempt: 0, amount: '1300000' },
      { task: '', attempt: 2, amount: '1300000' },
      { task: '', attempt: 3, amount: '1300000' }
    ])
  }, 240_000)

  oftenTest(
    'circuits that the submission counted are reserved once',
    async () => {
      const id = await run(inTurn(2), { params: { shots: 100, circuit_count: 3 } })
      expect(await platform.ended(id)).toMatchObject({
        status: 'completed',
        estimated_cost_usd: 3.9,
        actual_cost_usd: 2.6
      })
      expect(await reservations(id)).toEqual([{ task: '', attempt: 0, amount: '3900000' }])
    },
    240_000
  )

  test('tasks of a graph run their circuits in parallel', async () => {
    const id = await run(sideBySide)
    expect(await platform.ended(id)).toMatchObject({
      status: 'completed',
      result: { first: { '10': 100 }, second: { '01': 100 } },
      actual_cost_usd: 2.6
    })
    expect(control().tasks()).toHaveLength(2)
  }, 240_000)

  longTest(
    'a script that runs no circuit costs nothing',
    async () => {
      const id = await run('import qiskit\n\ndef main(shots):\n    return {"shots": shots}\n')
      expect(await platform.ended(id)).toMatchObject({
        status: 'completed',
        result: { shots: 100 },
        actual_cost_usd: 0
      })
    },
    240_000
  )

  longTest(
    'a worker killed while four scripts are each at another step of their second circuit: each circuit is paid once',
    async () => {
      const ids: Record<string, string> = {}
      for (const [step, fault] of Object.entries(steps)) {
        const before = control().tasks().length
        control().timing({ queueMs: 1_500, runMs: 0 })
        ids[step] = await run(inTurn(3), { name: step })
        await platform.paidTasksAt(name, before + 1)
        control().fault(fault)
        await eventually(() => control().faults().length === 0, { timeoutMs: 90_000 })
      }
      await platform.kill('worker')
      await platform.start.worker()
      for (const [step, id] of Object.entries(ids)) {
        const { status, attempts, actual_cost_usd, result } = await platform.ended(id, 120_000)
        expect({ step, status, attempts, actual_cost_usd, result }).toMatchObject({
          ...{ step, status: 'completed', actual_cost_usd: 3.9 },
          result: { seen: expected(3) }
        })
      }
      expect(control().tasks()).toHaveLength(12)
    },
    240_000
  )

  longTest(
    'a worker and its waiting script killed while a circuit is queued: the script is repeated, the circuits are not',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 0 })
      const id = await run(inTurn(2))
      await platform.paidTasksAt(name, 1)
      control().advance(2 * DAY_MS)
      await platform.paidTasksAt(name, 2)
      await platform.kill('worker')
      // As if the executor had been restarted.
      await platform.connection.db.execute(sql`update job_asks set parked_as = 'gone' where job_id = ${id}`)
      await platform.start.worker()
      control().advance(2 * DAY_MS)
      expect(await platform.ended(id)).toMatchObject({
        status: 'completed',
        result: { seen: expected(2) },
        actual_cost_usd: 2.6
      })
      expect(control().tasks()).toHaveLength(2)
    },
    240_000
  )

  oftenTest.each(
    rowsOfLane<[string, FaultOrder[]]>(
      [
        ['the response is lost', [{ match: submitting, kind: 'drop_after' }]],
        ['it is accepted and answered with 503', [{ match: submitting, kind: 'status_after', status: 503 }]],
        ['it is accepted late', [{ match: submitting, kind: 'accept_late', lag_ms: 1_500 }]],
        ['too many requests', [{ match: submitting, kind: 'status', status: 429, retry_after: 1, times: 2 }]]
      ],
      (_row, at) => at === 0
    )
  )(
    'a circuit whose submission fails (%s) is paid once',
    async (_name, faults) => {
      for (const fault of faults) control().fault(fault)
      const id = await run(inTurn(2))
      expect(await platform.ended(id)).toMatchObject({ status: 'completed', actual_cost_usd: 2.6 })
      expect(control().tasks()).toHaveLength(2)
    },
    240_000
  )

  oftenTest(
    'a circuit beyond the budget fails the job with the figures; earlier circuits are paid, and the rest is released',
    async () => {
      await withLeftToday(2.6, async () => {
        const id = await run(inTurn(3))
        const job = await platform.ended(id)
        expect(job).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' }, actual_cost_usd: 2.6 })
        expect(job.error!.message).toMatch(new RegExp(`not sent to ${title}.*\\$1\\.30.*daily budget \\(\\$0\\.00 of`))
        expect(control().tasks()).toHaveLength(2)
      })
    },
    240_000
  )

  oftenTest.each([
    [3.9, 'completed', 3.9, 3],
    [3.89, 'failed', 2.6, 2]
  ])(
    "the submitter's own cap of %d USD for three circuits: %s",
    async (max_cost_usd, status, actual_cost_usd, tasks) => {
      const id = await run(inTurn(3), { max_cost_usd })
      const job = await platform.ended(id)
      expect(job).toMatchObject({ status, actual_cost_usd })
      if (status === 'failed') expect(job.error).toMatchObject({ code: 'budget_exceeded' })
      expect(control().tasks()).toHaveLength(tasks)
    },
    240_000
  )

  longTest(
    'two parallel tasks with a budget for one circuit: one at most is sent, and cancelled when the other fails the job',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 0 })
      await withLeftToday(1.3, async () => {
        const id = await run(sideBySide)
        const job = await platform.ended(id)
        expect(job).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' }, actual_cost_usd: 0 })
        expect(job.error!.message).toMatch(
          new RegExp(`^task 'sample' \\(task_000[12]\\): the circuit was not sent to ${title}`)
        )
        // The other can fail the job before the one was sent.
        const sent = control().tasks()
        expect(sent).toMatchObject([{ state: cancelled }].slice(0, sent.length))
        expect((await platform.attempts(id)).map(({ error }) => error?.code).sort()).toContain('budget_exceeded')
      })
    },
    240_000
  )

  oftenTest(
    'a cancel while the second circuit is queued cancels it at the provider; the first stays paid',
    async () => {
      const id = await run(inTurn(3))
      control().timing({ queueMs: 1_000, runMs: 0 })
      await platform.paidTasksAt(name, 1)
      control().timing({ queueMs: DAY_MS, runMs: 0 })
      await platform.paidTasksAt(name, 2)
      await platform.cancel(id)
      expect(await platform.ended(id)).toMatchObject({
        status: 'cancelled',
        cancel: { outcome: 'provider_confirmed' },
        actual_cost_usd: 1.3
      })
      expect(control().tasks()).toMatchObject([{ completed_at: expect.any(String) }, { state: cancelled }])
    },
    240_000
  )

  longTest(
    'a cancel while the response to a submission is lost: the circuit is found and cancelled',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 0 })
      control().fault({ match: submitting, kind: 'hang_after' })
      const id = await run(inTurn(2))
      await platform.paidTasksAt(name, 1)
      await platform.cancel(id)
      expect(await platform.ended(id)).toMatchObject({ status: 'cancelled', actual_cost_usd: 0 })
      expect(control().tasks()).toMatchObject([{ state: cancelled }])
    },
    240_000
  )

  longTest(
    'a cancel while two tasks have a circuit each in the queue cancels both',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 0 })
      const id = await run(sideBySide)
      await platform.paidTasksAt(name, 2)
      await platform.cancel(id)
      expect(await platform.ended(id)).toMatchObject({
        status: 'cancelled',
        cancel: { outcome: 'provider_confirmed' },
        actual_cost_usd: 0
      })
      expect(control().tasks()).toMatchObject([{ state: cancelled }, { state: cancelled }])
    },
    240_000
  )

  longTest(
    'a provider that does not respond after a cancel: everything is held, and settled once it reports how each circuit ended',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 0 })
      const id = await run(sideBySide)
      await platform.paidTasksAt(name, 2)
      await platform.until(id, ({ provider_jobs }) => (provider_jobs as unknown[]).length === 2)
      control().fault({ kind: 'offline', times: 1_000_000 })
      await platform.cancel(id)
      await platform.passCancelDeadline(id)
      expect(await platform.ended(id)).toMatchObject({
        status: 'cancelled',
        cancel: { outcome: 'provider_unknown' },
        actual_cost_usd: null
      })
      expect((await platform.money()).reserved).toBeCloseTo(2.6, 6)
      control().clearFaults()
      control().advance(2 * DAY_MS)
      await platform.askAfterHeld()
      const settled = await platform.until(id, ({ actual_cost_usd }) => actual_cost_usd !== null)
      expect(settled).toMatchObject({ status: 'cancelled', actual_cost_usd: 2.6 })
    },
    240_000
  )

  oftenTest(
    'a circuit that the provider refuses raises an error in the script, which can continue without it',
    async () => {
      control().fault({ match: submitting, kind: 'status', status: 400 })
      const id = await run(catching)
      const job = await platform.ended(id)
      expect(job).toMatchObject({
        status: 'completed',
        result: { said: [expect.any(String), { '1': 100 }] },
        actual_cost_usd: 1.3
      })
    },
    240_000
  )

  longTest(
    'credentials that are removed between two circuits: nothing more is sent, and the script gets the reason',
    async () => {
      control().timing({ queueMs: 1_000, runMs: 0 })
      const id = await run(catching)
      await platform.paidTasksAt(name, 1)
      // The second circuit is refused until they are gone.
      control().fault({ match: submitting, kind: 'status', status: 429, times: 1_000_000 })
      const refused = () => requestsTo(control().requests(), submitting).filter(({ fault }) => fault === 'status')
      await eventually(() => refused().length > 0, { timeoutMs: 90_000 })
      await platform.connection.db.execute(
        sql`delete from team_secrets where team_id = ${platform.teamId} and provider = ${name}`
      )
      try {
        expect(await platform.ended(id)).toMatchObject({
          status: 'completed',
          result: { said: [{ '1': 100 }, expect.stringMatching(`no credentials of ${title}`)] },
          actual_cost_usd: 1.3
        })
      } finally {
        await platform.storeCredentials(name)
      }
      expect(control().tasks()).toHaveLength(1)
    },
    240_000
  )
})
