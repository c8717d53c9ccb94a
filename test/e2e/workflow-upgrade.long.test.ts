// A release that changes the code of workflows while jobs run: with one kind of worker after the other, and with versions in
// which old and new workers run beside each other.
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { versionOf } from '../../services/dispatch/workflow-version.js'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { type OwnParts, type Platform, startPlatform } from '../support/stack/platform.js'
import { changedWorkflowBundle } from '../support/workflows/changed-bundle.js'

const soon = { WORKFLOW_QUIET_SECONDS: '2', WORKFLOW_SWEEP_SECONDS: '1' }
const slow = (seconds: number) =>
  submission({ execution_mode: 'temporal', inline_code: slowQiskit(seconds), framework: 'qiskit' })
const quick = () => submission({ execution_mode: 'temporal' })

let changed: string
let platform: Platform
let temporal: Client

beforeAll(async () => {
  changed = await changedWorkflowBundle()
}, 120_000)

async function start(file: string, own: OwnParts, env: Record<string, string>): Promise<void> {
  platform = await startPlatform(file, own, { ...soon, ...env })
  temporal = new Client({ connection: await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! }) })
}

afterEach(async () => {
  await temporal.connection.close()
  await platform.close()
}, 180_000)

const statesOf = async (id: string) => (await platform.attempts(id)).map(({ state }) => state)
const workflowIdOf = async (id: string) => (await platform.job(id)).workflow!.id

test('a job that runs through a change of the workflow code, and back, completes once, by a workflow of the new code', async () => {
  await start('workflow-upgrade', {}, {})
  // Its capsule is made after the execution: something is left to do for another workflow.
  const first = await platform.submit({ ...slow(8), create_capsule: true })
  await platform.accepted(first)
  await platform.stop('worker')
  await platform.start.worker({ WORKFLOW_BUNDLE: changed })
  expect(await platform.ended(first, 90_000)).toMatchObject({ status: 'completed', error: null })
  expect(await workflowIdOf(first)).toMatch(/-2$/)
  expect((await statesOf(first)).filter((state) => state === 'completed')).toHaveLength(1)

  const back = await platform.submit({ ...slow(8), create_capsule: true })
  await platform.accepted(back)
  await platform.stop('worker')
  await platform.start.worker()
  expect(await platform.ended(back, 90_000)).toMatchObject({ status: 'completed', error: null })
  expect((await statesOf(back)).filter((state) => state === 'completed')).toHaveLength(1)
}, 300_000)

test('a job that its execution ends is completed by the worker that stops, and its workflow does not stay open', async () => {
  await start('workflow-upgrade-plain', {}, {})
  const id = await platform.submit(slow(8))
  await platform.accepted(id)
  await platform.stop('worker')
  await platform.start.worker({ WORKFLOW_BUNDLE: changed })
  expect(await platform.ended(id, 90_000)).toMatchObject({ status: 'completed', error: null, attempts: 1 })
  const handle = temporal.workflow.getHandle(await workflowIdOf(id))
  await eventually(async () => (await handle.describe()).status.name !== 'RUNNING')
}, 240_000)

describe('with versions', () => {
  const deployment = { TEMPORAL_DEPLOYMENT: 'qjs' }
  const buildOf = (bundle: string) => versionOf('qjs', bundle).buildId

  async function versionOfWorkflow(id: string) {
    const { raw } = await temporal.workflow.getHandle(await workflowIdOf(id)).describe()
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId
  }

  const currentVersion = async () =>
    (await temporal.workflowService.describeWorkerDeployment({ namespace: 'default', deploymentName: 'qjs' }))
      .workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId

  /** As `temporal worker deployment set-current-version` does. */
  const makeCurrent = (buildId: string) =>
    eventually(async () => {
      await temporal.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: 'default',
        deploymentName: 'qjs',
        buildId
      })
      return true
    })

  test('a job stays with the version that began it, and new jobs start in the version that was made current', async () => {
    await start('workflow-versions', { temporal: true }, deployment)
    const old = buildOf(platform.settings.WORKFLOW_BUNDLE!)
    await eventually(async () => (await currentVersion()) === old)
    const begun = await platform.submit(slow(20))
    await platform.accepted(begun)
    await platform.start.secondWorker({ WORKFLOW_BUNDLE: changed })
    const between = await platform.submit(quick())
    expect(await platform.ended(between)).toMatchObject({ status: 'completed' })
    expect(await versionOfWorkflow(between)).toBe(old)

    await makeCurrent(buildOf(changed))
    const later = await platform.submit(quick())
    expect(await platform.ended(later)).toMatchObject({ status: 'completed' })
    expect(await versionOfWorkflow(later)).toBe(buildOf(changed))

    expect(await platform.ended(begun, 90_000)).toMatchObject({ status: 'completed', attempts: 1 })
    expect([await versionOfWorkflow(begun), await workflowIdOf(begun)]).toEqual([old, expect.not.stringMatching(/-2$/)])
  }, 240_000)

  test('when the last worker of a version is gone, the next one becomes current, and its jobs go on in new workflows', async () => {
    // How long the server remembers a worker (five minutes by default), and how often a worker asks for work.
    await start(
      'workflow-versions-gone',
      { temporal: { settings: ['matching.PollerHistoryTTL="8s"', 'matching.longPollExpirationInterval="2s"'] } },
      deployment
    )
    await eventually(async () => (await currentVersion()) !== undefined)
    const begun = await platform.submit(slow(15))
    await platform.accepted(begun)
    await platform.kill('worker')
    await platform.start.worker({ WORKFLOW_BUNDLE: changed })
    expect(await platform.ended(begun, 180_000)).toMatchObject({ status: 'completed', error: null })
    expect(await versionOfWorkflow(begun)).toBe(buildOf(changed))
    expect(await currentVersion()).toBe(buildOf(changed))
    expect(await platform.ended(await platform.submit(quick()))).toMatchObject({ status: 'completed' })
  }, 400_000)
})
