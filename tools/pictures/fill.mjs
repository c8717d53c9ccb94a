// What the pictures show, made through the API: jobs of every kind, a graph, a sweep, a capsule with verifications, a budget
// half spent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { root } from '../bootstrap.mjs'

const PASSWORD = 'a password for pictures'
const CODE = 'pictures'
const jobLimitMs = 3 * 60_000
const VERIFICATIONS = 4

const example = (name) => readFileSync(join(root, 'examples', name), 'utf8')

/** @param qjob runs the command line. @returns ids, and the cookies of an owner and of an administrator. */
export async function fill(url, qjob) {
  qjob('admin', 'create-code', '--code', CODE, '--uses', '2')
  const owner = await signUp(url, 'owner@example.org')
  const admin = await signUp(url, 'operator@example.org')
  qjob('admin', 'grant', 'operator@example.org')
  await owner.send('PATCH', '/api/profile', { display_name: 'The owner' })

  const { id: team_id } = await owner.send('POST', '/api/teams', { name: 'Quantum chemistry' })
  await owner.send('POST', '/api/team/secrets', {
    team_id,
    provider: 'ionq',
    secrets: { api_key: 'emulated-ionq-key' }
  })
  const submit = async (name, body) =>
    (await owner.send('POST', '/api/jobs/submit', { team_id, name, backend: 'local', ...body })).job_id
  const bell = { inline_code: example('bell.qasm') }

  const jobs = {
    bell: await submit('Bell pair', { ...bell, params: { shots: 4000, seed: 7 }, labels: ['calibration'] }),
    other: await submit('Bell pair, again', { ...bell, params: { shots: 4000, seed: 8 } }),
    observed: await submit('Correlations', { ...bell, params: { shots: 1000, observables: ['ZZ', 'XX', 'ZI'] } }),
    ghz: await submit('GHZ state', { inline_code: example('ghz.py'), framework: 'qiskit', params: { shots: 2000 } }),
    sweep: await submit('Rotation, 25 angles', {
      inline_code: example('rotation.qasm'),
      framework: 'openqasm',
      params: {
        shots: 1000,
        seed: 1,
        observables: ['ZI', 'ZZ'],
        observables_method: 'sampled',
        points: Array.from({ length: 25 }, (_, at) => ({ theta: Number((at * 0.2618).toFixed(4)) }))
      }
    }),
    graph: await submit('GHZ states of growing size', {
      inline_code: example('fan-out.py'),
      framework: 'marqov',
      execution_mode: 'temporal',
      params: { largest: 6, shots: 200 }
    }),
    failed: await submit('A program with a fault', {
      inline_code: 'raise ValueError("the angle is not given")',
      framework: 'qiskit',
      params: { shots: 100 }
    }),
    hardware: await submit('Bell pair on hardware', { ...bell, backend: 'ionq-direct-forte-1', params: { shots: 500 } })
  }
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const waiting = await submit('Tonight', { ...bell, params: { shots: 100 }, not_before: later }).catch(() => null)
  for (const id of Object.values(jobs)) await owner.ended(id)

  const { capsule_id: capsule } = await owner.send('POST', '/api/capsules/from-job', {
    job_id: jobs.bell,
    name: 'A Bell pair'
  })
  await owner.send('POST', `/api/capsules/${capsule}/seal`, { exit_code: 0, exit_message: 'as expected' })
  for (let run = 0; run < VERIFICATIONS; run++) {
    const { job_id } = await owner.send('POST', `/api/capsules/${capsule}/run`, { mode: 'verify' })
    await owner.ended(job_id)
  }
  const { publication } = await owner.send('POST', `/api/capsules/${capsule}/publish`, {
    title: 'A Bell pair',
    description: 'Two entangled qubits, verified again and again',
    license: 'CC-BY-4.0'
  })

  // Half of the day's budget is spent.
  const { day } = await owner.send('GET', `/api/team/budget?team_id=${team_id}`)
  if (day.spent_usd > 0)
    await owner.send('PATCH', '/api/team/budget', { team_id, daily_usd: Number((2 * day.spent_usd).toFixed(2)) })
  return { team: team_id, jobs, waiting, capsule, slug: publication.slug, owner: owner.cookie, admin: admin.cookie }
}

async function signUp(url, email) {
  let cookie = ''
  const send = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(cookie && { cookie }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    const [set] = response.headers.getSetCookie()
    if (set) cookie = set.split(';')[0]
    return response.json()
  }
  await send('POST', '/api/auth/sign-up', { email, password: PASSWORD, code: CODE })
  return {
    cookie,
    send,
    async ended(id) {
      const until = Date.now() + jobLimitMs
      for (;;) {
        const { completed_at } = await send('GET', `/api/jobs/${id}?result=omit`)
        if (completed_at !== null) return
        if (Date.now() > until) throw new Error(`job ${id} did not end`)
        await delay(200)
      }
    }
  }
}
