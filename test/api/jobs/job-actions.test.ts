// What the record says that the caller can do is what happens when they do it: every action is pressed in every status by every
// kind of member, and on jobs that cannot run again.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { openSession } from '../../../db/accounts/accounts.js'
import { beginJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { transition } from '../../../db/jobs/job-transition.js'
import { createApiKey } from '../../../db/teams/api-keys.js'
import { type JobStatus, jobStatuses } from '../../../domain/jobs/job-status.js'
import { paramsFromValue } from '../../../domain/jobs/params/params.js'
import { bearer, createAccessScenes } from '../../support/api/access-scenes.js'
import { type ApiResponse, type Headers, startApi } from '../../support/api/api.js'
import { type Kind, readers } from '../../support/api/callers.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { addJob, addPerson, addTeam, type JobChoices, type Person } from '../../support/jobs/rows.js'
import { rowsOfLane } from '../../support/lane.js'

const api = await startApi('job_actions')
const { db } = api.database
afterAll(() => api.close())

const { cast, stage } = await createAccessScenes(db)

const fence = { generation: 1 }

/** Brings a pending job into a status, as the service does. */
async function bring(id: string, status: JobStatus): Promise<void> {
  if (status === 'running' || status === 'cancelling') await beginJob(db, id, fence)
  if (status === 'cancelling') await requestCancel(db, id)
  if (status === 'completed') await finishJob(db, id)
  if (status === 'failed' || status === 'cancelled' || status === 'dispatch_failed') {
    const set = status === 'failed' ? { errorCode: 'execution_error', errorMessage: 'a test' } : {}
    await db.transaction((tx) => transition(tx, id, status, { set }))
  }
}

let names = 0
const actions: Record<string, (id: string) => [path: string, body?: unknown]> = {
  cancel: (id) => [`/api/jobs/${id}/cancel`],
  rerun: (id) => [`/api/jobs/${id}/rerun`],
  make_capsule: (id) => ['/api/capsules/from-job', { job_id: id }],
  save_script: (id) => ['/api/scripts', { job_id: id, name: 'n', description: 'd', slug: `script-${names++}` }]
}

/** The words of a refusal; `true` for anything else. */
const outcome = ({ status, body, text }: ApiResponse): true | string => {
  if (status < 300) return true
  if (status >= 500) throw new Error(text)
  return body.error.message ?? body.error
}

/** What the record says of an action, and what then happens. */
async function told(id: string, action: string, headers: Headers) {
  const record = await api.ask('GET', `/api/jobs/${id}?result=omit`, undefined, headers)
  expect(record.status).toBe(200)
  const [path, body] = actions[action]!(id)
  return { said: record.body.can[action], happened: outcome(await api.ask('POST', path, body, headers)) }
}

const suspend = (teamId: string) =>
  db.execute(sql`update teams set suspended_at = now(), suspended_reason = 'a test' where id = ${teamId}`)

describe('what the record says is what happens', () => {
  /** A member, and a person and a key that can do nothing: the others are as one of them. */
  const standing: Kind[] = ['member', 'read key', 'owner of a suspended team']
  test.each(rowsOfLane(readers, (kind) => standing.includes(kind)))(
    'to a %s, for every action in every status',
    async (kind: Kind) => {
      const { scene, headers } = await stage(kind)
      const owner = kind === 'owner of a suspended team' ? cast.suspended : cast.owner
      const jobs: [action: string, status: JobStatus, id: string][] = []
      const add = async (submitter: Person, action: string, status: JobStatus) => {
        const id = await addJob(db, submitter, { submission: { teamId: scene.teamId } })
        await bring(id, status)
        jobs.push([action, status, id])
      }
      for (const status of jobStatuses) for (const action of Object.keys(actions)) await add(owner, action, status)
      // The code of a job is for its submitter alone.
      for (const submitter of [cast.member, cast.admin]) await add(submitter, 'save_script', 'completed')
      if (kind === 'owner of a suspended team') await suspend(scene.teamId)
      const wrong: unknown[] = []
      const allowed = new Set<string>()
      for (const [action, status, id] of jobs) {
        const { said, happened } = await told(id, action, headers)
        if (said !== happened) wrong.push({ action, status, said, happened })
        if (happened === true) allowed.add(action)
      }
      expect(wrong).toEqual([])
      // Whoever can write can do each of them in some status; nobody else can do any.
      const writes = kind !== 'read key' && kind !== 'owner of a suspended team'
      expect([...allowed].sort()).toEqual(writes ? Object.keys(actions).sort() : [])
    },
    60_000
  )

  test('of saving the code of a job that ran a circuit', async () => {
    const { scene, headers } = await stage('owner')
    const source = { kind: 'circuit', format: 'qasm3', text: bellQasm3() } as const
    const id = await addJob(db, cast.owner, { submission: { teamId: scene.teamId, source } })
    await finishJob(db, id)
    const { said, happened } = await told(id, 'save_script', headers)
    expect([said, said]).toEqual([happened, 'job_id: has no inline code: it ran a circuit'])
  })
})

describe('what the record says of running the job again is what happens', () => {
  interface Again {
    choices?: JobChoices
    /** Changes the world before the job is run again. */
    first(scene: { id: string; teamId: string; owner: Person }): Promise<Headers | undefined>
    words: RegExp | true
  }
  const price = (slug: string, micro: number) =>
    db.execute(sql`update backends set task_fee_micro = ${micro} where slug = ${slug}`)
  const on = (backend: string): JobChoices => ({ submission: { backend } })
  const keyOf = async (
    { teamId, owner }: { teamId: string; owner: Person },
    dailyLimit: bigint | null,
    kind: 'live' | 'test'
  ) =>
    bearer(
      (
        await createApiKey(db, {
          teamId,
          createdBy: owner.userId,
          name: 'k',
          tier: 'qpu',
          kind,
          dailyLimit,
          expiresAt: null
        })
      ).key
    )

  const cases: Record<string, Again> = {
    'nothing has changed': { first: async () => undefined, words: true },
    'its backend is offline': {
      choices: on('aer-mps'),
      first: async () => void (await db.execute(sql`update backends set status = 'offline' where slug = 'aer-mps'`)),
      words: /aer-mps is offline/
    },
    'its backend was retired': {
      choices: on('aer-density-matrix'),
      first: async () =>
        void (await db.execute(sql`update backends set is_retired = true where slug = 'aer-density-matrix'`)),
      words: /retired by its provider/
    },
    'its backend has left the catalogue': {
      first: async ({ id }) => void (await db.execute(sql`update jobs set backend = 'gone' where id = ${id}`)),
      words: /no backend is called "gone"/
    },
    'its backend is narrower now, and its circuit has two qubits': {
      choices: on('marqov-sim'),
      first: async () => void (await db.execute(sql`update backends set max_qubits = 1 where slug = 'marqov-sim'`)),
      words: /the circuit has 2 qubits, marqov-sim takes at most 1/
    },
    'its shots are more than its backend takes now': {
      choices: { submission: { backend: 'aer-noisy', params: paramsFromValue({ shots: 99 }) } },
      first: async () => void (await db.execute(sql`update backends set max_shots = 98 where slug = 'aer-noisy'`)),
      words: /takes at most 98 shots/
    },
    'it costs more than the limit of a job': {
      choices: on('aer-statevector'),
      first: async () => void (await price('aer-statevector', 200_000_000)),
      words: /the team's limit per job/
    },
    'it costs more than its own cap': {
      choices: { submission: { backend: 'aer-statevector', maxCost: 1n } },
      first: async () => void (await price('aer-statevector', 2)),
      words: /the request's own max_cost_usd/
    },
    'the month has nothing left': {
      choices: on('aer-statevector'),
      first: async ({ teamId }) => {
        await price('aer-statevector', 2)
        await db.execute(sql`insert into team_budgets (team_id, monthly_micro) values (${teamId}, 1)`)
        return undefined
      },
      words: /the team's monthly budget/
    },
    'the key has nothing left for the day': {
      choices: on('aer-statevector'),
      first: async (scene) => {
        await price('aer-statevector', 2)
        return keyOf(scene, 1n, 'live')
      },
      words: /this API key's own daily limit/
    },
    'the key is for tests, and its backend is paid': {
      choices: on('aer-statevector'),
      first: async (scene) => {
        await price('aer-statevector', 2)
        return keyOf(scene, null, 'test')
      },
      words: /A test key runs on free backends only/
    },
    "the team's credentials are gone": {
      choices: on('ionq-direct-simulator'),
      first: async () => {
        await db.execute(sql`insert into provider_workers (provider, declared_at) values ('IonQ', now())`)
        await db.execute(sql`update backends set status = 'online' where slug = 'ionq-direct-simulator'`)
        return undefined
      },
      words: /needs the team's own credentials for IonQ/
    },
    'it is a task of a capsule that never got the results of an earlier one': {
      choices: {
        submission: { params: paramsFromValue({ shots: 1, energy: { $result: 'first' } } as never) }
      },
      first: async ({ id }) =>
        void (await db.execute(sql`update jobs set capsule_run_id = gen_random_uuid() where id = ${id}`)),
      words: /names? results of first/
    }
  }

  test.each(Object.entries(cases))('where %s', async (_what, { choices = {}, first, words }) => {
    const owner = await addPerson(db)
    const teamId = await addTeam(db, owner)
    const id = await addJob(db, owner, { ...choices, submission: { ...choices.submission, teamId } })
    const session = { cookie: `qjs_session=${await openSession(db, owner.userId, null)}` }
    const headers = (await first({ id, teamId, owner })) ?? session
    const { said, happened } = await told(id, 'rerun', headers)
    expect(said).toBe(happened)
    if (words === true) expect(said).toBe(true)
    else expect(said).toMatch(words)
  })
})

test('a record with a large source says no less of what does not depend on it', async () => {
  const ada = await api.signUp()
  const id = await ada.submit({
    inline_code: `${bellQasm3()}// ${'é'.repeat(40_000)}`,
    framework: 'openqasm',
    backend: 'local',
    params: { shots: 1 }
  })
  expect((await ada.get(`/api/jobs/${id}`)).body.can).toEqual({
    cancel: true,
    rerun: true,
    make_capsule: 'job_id: must be a completed job (it is pending)',
    save_script: 'job_id: must be a completed job (it is pending)'
  })
})

test('the response to a cancel, which is kept for repetitions, says nothing of what can be done', async () => {
  const ada = await api.signUp()
  const id = await ada.submit({
    inline_code: bellQasm3(),
    framework: 'openqasm',
    backend: 'local',
    params: { shots: 1 }
  })
  expect((await ada.post(`/api/jobs/${id}/cancel`)).body).not.toHaveProperty('can')
})
