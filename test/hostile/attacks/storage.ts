// Attacks on storage and on the memory of the api by large requests and responses.
import { randomBytes } from 'node:crypto'
import type { Attack } from '../attack.js'
import { fieldsOf } from '../client.js'
import { aborted, type Hostile, pause, repeat } from '../hostile-client.js'
import { largeResult } from './program-texts.js'

/** More would fill the machine of the test rather than show anything. */
const ACCEPTED_BYTES_MAX = 400 * 1024 * 1024
const COPIES_MAX = 25

let largeJob = ''
const prepareLargeJob = async (hostile: Hostile) => {
  const program = { inline_code: largeResult, framework: 'marqov', timeout_seconds: 60 }
  largeJob = await hostile.completedJob(program)
}

/** As many as a report may have, in a body that is just below its limit. */
const OUTCOMES = 10_000

/** Text that no storage compresses to less than three quarters. */
const noise = (characters: number): string => randomBytes(characters).toString('base64').slice(0, characters)

const telemetry = (teamId: string) => ({
  session_id: 's'.repeat(200),
  team_id: teamId,
  simulator: 'qulacs-wasm',
  qasm_input: noise(60_000),
  shots: OUTCOMES,
  qubit_count: 40,
  gate_count: 2,
  execution_time_ms: 1,
  counts: Object.fromEntries(Array.from({ length: OUTCOMES }, (_, at) => [at.toString(2).padStart(40, '0'), 1]))
})

/** A form of one file, as `multipart/form-data`. */
function fileForm(file: Buffer): { body: Buffer; headers: Record<string, string> } {
  const boundary = 'b0000000000000000000000b'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="c.zip"\r\ncontent-type: application/zip\r\n\r\n`
  return {
    body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }
  }
}

/** Until the abort, or until enough was accepted. */
const bounded = async (hostile: Hostile, until: AbortSignal, work: (turn: number) => Promise<unknown>) => {
  let accepted = 0
  await repeat(until, { lanes: 4 }, async (turn) => {
    if (hostile.acceptedBytes > ACCEPTED_BYTES_MAX || accepted >= COPIES_MAX) return aborted(until)
    const before = hostile.replies['201'] ?? 0
    await work(turn)
    if ((hostile.replies['201'] ?? 0) > before) accepted++
    return pause(20, until)
  })
}

/** A flood that is refused from its first byte on shows nothing. */
const accepted =
  (attack: Attack['attack']): Attack['attack'] =>
  async (hostile, until) => {
    await attack(hostile, until)
    if (hostile.acceptedBytes === 0) throw new Error(`nothing was accepted: ${JSON.stringify(hostile.replies)}`)
  }

export const storageAttacks: Attack[] = [
  {
    name: 'telemetry',
    what: 'telemetry of 500 KiB each without a pause',
    attack: accepted(async (hostile, until) => {
      const body = Buffer.from(JSON.stringify(telemetry(hostile.teamId)))
      const headers = { 'content-type': 'application/json' }
      await repeat(until, { lanes: 4 }, async () => {
        if (hostile.acceptedBytes > ACCEPTED_BYTES_MAX) return aborted(until)
        await hostile.call('POST', '/api/playground/telemetry', body, { headers })
        return pause(20, until)
      })
    })
  },
  {
    name: 'capsule-copies',
    what: 'capsules from one job with a result of 15 MiB, again and again',
    prepare: prepareLargeJob,
    attack: accepted((hostile, until) =>
      bounded(hostile, until, () => hostile.call('POST', '/api/capsules/from-job', { job_id: largeJob }))
    )
  },
  {
    name: 'script-versions',
    what: 'versions of a script of 1 MiB, each with an idempotency key',
    attack: async (hostile, until) => {
      const content = (version: number) => `x = ${version}\n# ${noise(1_000_000)}\n`
      const script = { name: 'large', script_content: content(0), team_id: hostile.teamId }
      const { script_id: id } = fieldsOf(await hostile.call('POST', '/api/scripts/upload', script))
      await repeat(until, { lanes: 2 }, async (turn) => {
        if (hostile.acceptedBytes > ACCEPTED_BYTES_MAX) return aborted(until)
        const change = { script_content: content(turn + 1) }
        await hostile.call('PATCH', `/api/scripts/${id}`, change, { idempotencyKey: `version ${turn}` })
        return pause(20, until)
      })
    }
  },
  {
    name: 'seals',
    what: 'sealed capsules of 15 MiB, 8 at once',
    prepare: prepareLargeJob,
    attack: async (hostile, until) => {
      let sealed = 0
      await repeat(until, { lanes: 8 }, async () => {
        if (sealed >= COPIES_MAX) return aborted(until)
        const body = { job_id: largeJob, seal: true, retention_years: 1 }
        const { status } = await hostile.call('POST', '/api/capsules/from-job', body)
        if (status === 201) sealed++
        return pause(20, until)
      })
    }
  },
  {
    name: 'unread-results',
    what: '40 readers of a result of 15 MiB that do not read, and 9 that do',
    short: true,
    prepare: prepareLargeJob,
    attack: async (hostile, until) => {
      const path = `/api/jobs/${largeJob}/status`
      for (let reader = 0; reader < 40; reader++) hostile.open(hostile.head('GET', path))
      await repeat(until, { lanes: 9, perSecond: 10 }, () => hostile.call('GET', path))
    }
  },
  {
    name: 'repeated-imports',
    what: 'one import of 15 MiB as a form, repeated under its idempotency key, 6 at once',
    prepare: prepareLargeJob,
    attack: async (hostile, until) => {
      const made = fieldsOf(await hostile.call('POST', '/api/capsules/from-job', { job_id: largeJob }))
      const response = await fetch(`${hostile.base}/api/capsules/${made.capsule_id}/export`, {
        headers: { authorization: `Bearer ${hostile.nextKey()}`, 'x-forwarded-for': hostile.account.address }
      })
      const form = fileForm(Buffer.from(await response.arrayBuffer()))
      const as = { as: 'session', idempotencyKey: 'the same', headers: form.headers } as const
      await repeat(until, { lanes: 6 }, async () => {
        await hostile.call('POST', '/api/capsules/import', form.body, as)
        return pause(20, until)
      })
    }
  }
]
