// What happens to the cluster while jobs run: upgrades and the way back, and each process killed and frozen.
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { versionOf } from '../../services/dispatch/workflow-version.js'
import { eventually } from '../support/eventually.js'
import { type Cluster, DEPLOYMENT } from './cluster.js'
import type { Part } from './part.js'
import type { Release } from './release.js'

export type Say = (line: string) => void

/** How long a killed process is away, as a supervisor leaves it. */
const AWAY_MS = 2_000
/** What the balancer needs to notice, with a probe each second. */
const NOTICED_MS = 2_000
const FROZEN_MS = 60_000
/** Between two processes that go. */
const APART_MS = 5_000
/** Balancers and supervisors usually wait one second for a probe. */
const PROBE_MS = 1_000
/** A process that waits for what hangs is late each time; one on a busy machine may be late now and then. */
const LATE_IN_A_ROW = 5
const DRAINED_WITHIN_MS = 180_000

/** New workers beside the old ones, then the apis and executors one by one, then the old workers go. */
export async function upgrade(cluster: Cluster, to: Release, say: Say): Promise<void> {
  const { parts } = cluster
  const old = parts.workers
  say(`upgrade to the ${to.name} release: new workers`)
  parts.workers = []
  for (let at = 1; at <= old.length; at++)
    parts.workers.push(await cluster.addWorker(`worker-${to.name}-${at}-${process.hrtime.bigint() % 1_000_000n}`, to))
  await makeCurrent(cluster, to)
  for (const part of [...parts.apis, ...parts.executors]) {
    say(`upgrade to the ${to.name} release: ${part.name}`)
    await part.stop()
    await part.start(to)
    if (parts.apis.includes(part)) await noticed(cluster, part)
  }
  await drained(cluster, to, say)
  for (const part of old) {
    say(`upgrade to the ${to.name} release: stop ${part.name}`)
    await part.stop()
  }
}

/** Waits until the balancer sends requests to an api again: the next one must not stop before. */
async function noticed({ probe, isBalanced }: Cluster, { name }: Part): Promise<void> {
  const inTime = { timeoutMs: 180_000, everyMs: 100 }
  await eventually(async () => (await fetch(probe[name]!)).status === 200, inTime)
  // A probe from before may still be on its way.
  await delay(NOTICED_MS)
  await eventually(() => isBalanced(name), inTime)
}

/** As `temporal worker deployment set-current-version` does. */
async function makeCurrent({ temporalAddress }: Cluster, { workflowBundle }: Release): Promise<void> {
  const { buildId } = versionOf(DEPLOYMENT, workflowBundle)
  await withTemporal(temporalAddress, (client) =>
    eventually(
      async () => {
        await client.workflowService.setWorkerDeploymentCurrentVersion({
          namespace: 'default',
          deploymentName: DEPLOYMENT,
          buildId
        })
        return true
      },
      { timeoutMs: 180_000, everyMs: 500 }
    )
  )
}

/** Waits until no workflow is pinned to another version, as an operator would. Whatever is left then starts again. */
async function drained({ temporalAddress }: Cluster, { workflowBundle }: Release, say: Say): Promise<void> {
  const { buildId } = versionOf(DEPLOYMENT, workflowBundle)
  const open = () =>
    withTemporal(temporalAddress, async (client) => {
      const query = `WorkflowType = 'runJob' AND ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion != '${DEPLOYMENT}:${buildId}'`
      return (await client.workflow.count(query)).count
    })
  await eventually(async () => (await open()) === 0, { timeoutMs: DRAINED_WITHIN_MS, everyMs: 1_000 }).catch(async () =>
    say(`${await open()} workflows are still pinned to the former version`)
  )
}

async function withTemporal<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address })
  try {
    return await work(new Client({ connection }))
  } finally {
    await connection.close()
  }
}

const allParts = ({ parts }: Cluster): Part[] => [...parts.apis, ...parts.workers, ...parts.executors, ...parts.servers]

/** @returns for each part the milliseconds from its death until a job that was submitted then has completed. */
export async function killEach(
  cluster: Cluster,
  completesJob: () => Promise<void>,
  say: Say
): Promise<Record<string, number>> {
  const took: Record<string, number> = {}
  for (const part of allParts(cluster)) {
    say(`kill ${part.name}`)
    const killedAt = performance.now()
    await part.kill()
    const restarted = delay(AWAY_MS).then(() => part.start())
    await completesJob()
    took[part.name] = Math.round(performance.now() - killedAt)
    await restarted
    await delay(APART_MS)
  }
  return took
}

/** @returns the probes of other processes that were late while one was frozen, and the processes that hung with it. */
export async function freezeEach(cluster: Cluster, say: Say): Promise<{ late: string[]; hung: string[] }> {
  const late: string[] = []
  const hung: string[] = []
  for (const part of allParts(cluster)) {
    say(`freeze ${part.name}`)
    const inARow = new Map<string, number>()
    const frozenAt = performance.now()
    part.freeze()
    while (performance.now() - frozenAt < FROZEN_MS) {
      for (const [name, url] of Object.entries(cluster.probe)) {
        if (name === part.name) continue
        const isLate = (await answers(url)) === false
        inARow.set(name, isLate ? (inARow.get(name) ?? 0) + 1 : 0)
        if (isLate) late.push(`${name} while ${part.name} hung`)
        if (inARow.get(name) === LATE_IN_A_ROW) hung.push(`${name} with ${part.name}`)
      }
      await delay(1_000)
    }
    part.thaw()
    await delay(APART_MS)
  }
  return { late, hung }
}

/** `null` for a process that has gone. */
async function answers(url: string): Promise<boolean | null> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) })).arrayBuffer()
    return true
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? false : null
  }
}
