// `npm run cluster [-- --jobs 500 --seed 1]`: a cluster under load is upgraded and taken back, and each of its processes is
// killed and frozen. Then every job is final as promised, no request has failed while it was upgraded, and the books balance.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAccessCode, grantPlatformAdmin } from '../../db/accounts/accounts.js'
import { createChance } from '../chaos/chance.js'
import { type ApiResponse, type ChaosClient, createClient, signUp } from '../chaos/client.js'
import { invariants } from '../chaos/job-proof.js'
import { type LoadResult, runLoad, submissionOf, submit } from '../chaos/load.js'
import { planPaidJob, simulator } from '../chaos/plan.js'
import { endsByMode, openWork, proveJobs } from '../chaos/proof.js'
import { providersOfStack } from '../chaos/providers.js'
import { eventually } from '../support/eventually.js'
import { type Cluster, startCluster } from './cluster.js'
import { freezeEach, killEach, upgrade } from './deeds.js'
import { makeNextRelease, thisRelease } from './release.js'

const SETTLE_MS = 5 * 60_000
const JOB_MS = 120_000
const OWNER = 'plenty@example.org'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'jobs-per-second': { type: 'string', default: '0.5' }
  }
})
const seed = Number(values.seed)
const folder = mkdtempSync(join(tmpdir(), 'qjs-cluster-'))
const began = performance.now()
const say = (line: string) => console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`)

let owner: ChaosClient
let phase = 'start'
/** Lost responses by phase. */
const lost = new Map<string, string[]>()
const name = `cluster-${seed}`
const load: LoadResult = { submissions: [], reported: new Map(), unexpectedResponses: [] }

say(`the cluster is in ${folder}; repeat with --seed ${seed}`)
const cluster = await startCluster(folder)
let broken = 0
try {
  writeFileSync(join(folder, 'emulators.json'), JSON.stringify({ providers: cluster.emulators.providers }))
  const providers = providersOfStack(folder)
  const paidBackends = providers.map(({ backend }) => backend)
  const clients = await prepare(cluster)
  const next = await makeNextRelease(join(folder, 'next'))
  const ending = new AbortController()
  const loading = runLoad(
    {
      clients,
      paidBackends,
      chance: createChance(seed),
      name,
      perSecond: Number(values['jobs-per-second']),
      signal: ending.signal
    },
    load
  )
  const during = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    phase = what
    say(`== ${what}`)
    return work()
  }
  await during('upgrade', () => upgrade(cluster, next, say))
  await during('way back', () => upgrade(cluster, thisRelease, say))
  const took = await during('kills', () => killEach(cluster, completesJob, say))
  const { late, hung } = await during('freezes', () => freezeEach(cluster, say))
  await during('the rest', () =>
    eventually(async () => load.submissions.length >= Number(values.jobs), { timeoutMs: 1_800_000, everyMs: 1_000 })
  )
  ending.abort()
  await loading
  say('waiting until every job is final')
  await eventually(async () => (await openWork(cluster.connection)) === 0, {
    timeoutMs: SETTLE_MS,
    everyMs: 1_000,
    message: async () => `${await openWork(cluster.connection)} are open`
  }).catch((error: Error) => say(error.message))
  const paid = (await Promise.all(providers.map((provider) => provider.tasks()))).flat()
  const { findings } = await proveJobs(cluster.connection, load, { name, paid, paidBackends })

  const lines = [
    `${load.submissions.length} submissions`,
    ...(await endsByMode(cluster.connection)).map(
      ({ mode, backend, status, error, count }) => `  ${mode} ${backend} ${status} ${error}: ${count}`
    ),
    'responses lost, by phase',
    ...[...lost].flatMap(([what, why]) => [
      `  ${what}: ${why.length}`,
      ...why.slice(0, 5).map((text) => `    ${text}`)
    ]),
    'from the death of a part until a job that was submitted then had completed, in ms',
    ...Object.entries(took).map(([part, ms]) => `  ${part}: ${ms}`),
    `probes that were not answered within a second: ${late.length}`,
    ...[...new Set(late)].map((text) => `  ${text}`),
    `processes that hung with another: ${hung.length}`,
    ...hung.map((text) => `  ${text}`),
    'violations',
    ...invariants.flatMap((invariant) =>
      findings[invariant].length > 0 ? [`  ${invariant}: ${findings[invariant].slice(0, 5).join('; ')}`] : []
    )
  ]
  console.log(lines.join('\n'))
  const failedInUpgrades = ['upgrade', 'way back'].reduce((sum, what) => sum + (lost.get(what)?.length ?? 0), 0)
  broken = Object.values(findings).reduce((sum, list) => sum + list.length, 0) + failedInUpgrades + hung.length
  console.log(broken === 0 ? 'every promise was kept' : `${broken} promises were broken; the logs are in ${folder}`)
} finally {
  await cluster.close()
}
if (broken === 0) rmSync(folder, { recursive: true, force: true })
process.exit(broken === 0 ? 0 : 1)

/** A paid job of our own, in the durable mode, from its submission to its end. */
async function completesJob(): Promise<void> {
  const chance = createChance(seed + load.submissions.length)
  const plan = planPaidJob(chance, `${name}-probe-${load.submissions.length}`, 'temporal', simulator.slug)
  const submission = { ...submissionOf(plan, owner), mustComplete: true }
  await submit(submission, load)
  await eventually(
    async () => {
      const answer = await owner.call('GET', `/api/jobs/${submission.ids[0]}/status?wait=2`)
      return answer.kind === 'response' && answer.body.status === 'completed'
    },
    { timeoutMs: JOB_MS, everyMs: 100 }
  ).catch(() => say(`${plan.name} has not completed within ${JOB_MS / 1_000} s`))
}

/** One team with budget and credentials of all providers, and one with hardly any budget. */
async function prepare({ base, connection, agent, emulators }: Cluster) {
  const { db } = connection
  const code = await createAccessCode(db, { uses: 2 })
  const client = async (email: string): Promise<ChaosClient> => {
    const cookie = await signUp(base, email, code, agent)
    return createClient(base, () => cookie, {
      dispatcher: agent,
      onLost: (request, why) => lost.set(phase, [...(lost.get(phase) ?? []), `${request}: ${why}`])
    })
  }
  const plenty = await client(OWNER)
  const scarce = await client('scarce@example.org')
  owner = plenty
  await grantPlatformAdmin(db, OWNER)
  const must = async (response: Promise<ApiResponse>): Promise<Record<string, unknown>> => {
    const got = await response
    if (got.kind === 'response' && got.status < 300) return got.body
    throw new Error(`the cluster could not be prepared: ${JSON.stringify(got)}`)
  }
  await must(plenty.call('PATCH', `/api/admin/backends/${simulator.slug}`, { pricing: simulator.pricing }))
  await must(plenty.call('PATCH', '/api/team/budget', { daily_usd: 1_000 }))
  await must(scarce.call('PATCH', '/api/team/budget', { daily_usd: 0.3 }))
  const { teams } = (await must(plenty.call('GET', '/api/teams'))) as { teams: { id: string }[] }
  for (const { provider, credentials: secrets } of emulators.providers)
    await must(plenty.call('POST', '/api/team/secrets', { team_id: teams[0]!.id, provider, secrets }))
  for (const { backend } of providersOfStack(folder))
    await eventually(async () => (await must(plenty.call('GET', `/api/backends/${backend}`))).isAvailable === true, {
      timeoutMs: 180_000,
      everyMs: 250
    })
  return { plenty, scarce }
}
