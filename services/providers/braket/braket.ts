// Amazon Braket (API of 2019-09-01). A task's token is its `clientToken` and a folder of its results, which SearchQuantumTasks
// shows: finding it needs no right to read tags. Results are a file in the team's own bucket, with bits by qubit.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Credentials, missingForJob } from '../../../domain/backends/provider-credentials.js'
import {
  type CreateProviderCalls,
  type DeviceFacts,
  type Located,
  ProviderFault,
  type ProviderJobRequest
} from '../adapter.js'
import { TimedCache } from '../timed-cache.js'
import { createAccounts } from './account.js'
import { createBraketApi, type Session } from './api.js'
import { type AwsService, createAws, escaped } from './aws.js'
import { type Bucket, createStorage } from './bucket.js'
import { type BraketDevice, factsOf } from './device.js'
import { searchDevices, statesOfAll } from './fleet.js'
import { braketRegions, isSimulator, regionAdvice, regionOfDevice } from './regions.js'
import { countsOfResult, isAnalog, resultBytesMax } from './results.js'
import { type BraketTask, isInFolder, viewOf } from './tasks.js'

const CACHED_MAX = 1000
const CACHED_MS = 5 * 60_000

const PREFIX = 'quantum-job-service'

const PAGE = 100
/** A longer list cannot be one account's recent tasks on one device. */
const PAGES_MAX = 200
/** AWS allows an account five searches a second in a region. */
const PAGE_PAUSE_MS = 250
/** AWS's clock can differ from ours. */
const CLOCK_SLACK_MS = 3_600_000

/** Where credentials without a region are checked. */
const FIRST_REGION = 'us-east-1'

export const createBraket: CreateProviderCalls<AwsService> = (urls = {}, callTimeoutMs) => {
  const aws = createAws(urls, callTimeoutMs)
  const braket = createBraketApi(aws)
  const accounts = createAccounts(aws)
  const storage = createStorage(aws)
  const devices = new TimedCache<DeviceFacts>(CACHED_MAX, CACHED_MS)
  const usableBuckets = new TimedCache<boolean>(CACHED_MAX, CACHED_MS)

  const taskOf = (session: Session, id: string, query: Record<string, string>, signal: AbortSignal) =>
    braket<BraketTask>(session, { method: 'GET', path: `/quantum-task/${escaped(id)}`, query }, signal)

  /** For an accepted task, which only credentials of its own account show. */
  async function sessionOf({ credentials, place }: Located, id: string, signal: AbortSignal): Promise<Session> {
    // arn:aws:braket:REGION:ACCOUNT:quantum-task/ID
    const [, , , region, account] = id.split(':')
    const session = { credentials, region: place.region ?? region ?? FIRST_REGION }
    await accounts.assertSame(session, place.account ?? account, signal)
    return session
  }

  return {
    // AWS names the clientToken an idempotency token, and documents neither for how long it remembers one nor what it answers
    // when the rest of the request differs. A second try can come days later, so it is looked up.
    submitsOnce: false,
    devicesArePublic: false,
    billsSeconds: false,
    // Those of AWS for an account in one region.
    rates: { submit: { max: 20, windowSeconds: 1 }, look: { max: 100, windowSeconds: 1 } },

    async verify(credentials, signal) {
      const region = credentials.default_region ?? FIRST_REGION
      if (!braketRegions.includes(region)) throw new ProviderFault('unauthorized', regionAdvice(region))
      const session = { credentials, region }
      const account = await accounts.identify(session, signal)
      const [found, bucket] = await Promise.all([
        searchDevices(braket, session, signal),
        bucketDetails(session, signal)
      ])
      return {
        account,
        region: credentials.default_region ?? 'not set: jobs on simulators need default_region',
        devices: found
          .filter(({ deviceStatus, deviceName }) => deviceStatus === 'ONLINE' && typeof deviceName === 'string')
          .map(({ deviceName }) => (deviceName as string).slice(0, 100)),
        bucket: bucket.text,
        faults: [
          ...(credentials.default_region === undefined
            ? ['default_region is not set: jobs on simulators need it']
            : []),
          ...(bucket.fault === null ? [] : [bucket.fault])
        ]
      }
    },

    async place(credentials, target, signal) {
      const deviceType = isSimulator(target) ? 'simulator' : 'qpu'
      const missing = missingForJob('aws-braket', Object.keys(credentials), { deviceType })
      if (missing) throw new ProviderFault('refused', missing)
      const region = regionOfDevice(target, credentials.default_region)
      const account = await accounts.of({ credentials, region }, signal)
      const { name, prefix } = bucketOf(credentials)
      return { account, region, bucket: name, prefix }
    },

    describe(credentials, { target }, signal) {
      const region = regionOfDevice(target, credentials.default_region)
      return devices.get(`${credentials.access_key_id} ${region} ${target}`, async () => {
        const path = `/device/${escaped(target)}`
        const device = await braket<BraketDevice>({ credentials, region }, { method: 'GET', path }, signal)
        try {
          return factsOf(device)
        } catch (error) {
          const reason = (error as Error).message
          throw new ProviderFault('refused', `AWS Braket's capabilities of ${target} cannot be read: ${reason}`)
        }
      })
    },

    async stage({ credentials, place }, task, signal) {
      const session = { credentials, region: place.region! }
      const bucket = { name: place.bucket!, prefix: place.prefix! }
      await usableBuckets.get(`${credentials.access_key_id} ${session.region} ${bucket.name}`, () =>
        storage.check(session, bucket, signal)
      )
      const call = { method: 'POST', path: '/quantum-task', json: bodyOf(task, bucket) } as const
      return async (submitSignal) => {
        const { quantumTaskArn: id } = await braket<BraketTask>(session, call, submitSignal).catch((error) => {
          throw isOfKnownToken(error) ? new ProviderFault('unclear', (error as ProviderFault).message) : error
        })
        if (typeof id === 'string' && id.startsWith('arn:') && id.length <= 256) return id
        throw new ProviderFault('unclear', 'AWS Braket accepted without naming a task')
      }
    },

    async find({ credentials, place }, { token, target }, since, signal) {
      const region = place.region ?? regionOfDevice(target ?? '', credentials.default_region)
      const session = { credentials, region }
      await accounts.assertSame(session, place.account, signal)
      const from = new Date(since.getTime() - CLOCK_SLACK_MS).toISOString()
      const filters = [
        { name: 'createdAt', operator: 'GTE', values: [from] },
        ...(target === null ? [] : [{ name: 'deviceArn', operator: 'EQUAL', values: [target] }])
      ]
      let nextToken: string | undefined
      for (let page = 0; page < PAGES_MAX; page++) {
        if (page > 0) await setTimeout(PAGE_PAUSE_MS, undefined, { signal })
        const json = { filters, maxResults: PAGE, ...(nextToken !== undefined && { nextToken }) }
        const list = await braket<{ quantumTasks?: unknown; nextToken?: unknown }>(
          session,
          { method: 'POST', path: '/quantum-tasks', json },
          signal
        )
        // An answer of another form must not look like a list without the task.
        if (!Array.isArray(list.quantumTasks)) throw new ProviderFault('unclear', 'AWS Braket listed no tasks')
        const found = (list.quantumTasks as (BraketTask | null)[]).find((task) => task && isInFolder(task, token))
        if (typeof found?.quantumTaskArn === 'string') return found.quantumTaskArn
        if (typeof list.nextToken !== 'string' || list.nextToken === '') return null
        nextToken = list.nextToken
      }
      throw new ProviderFault('unclear', "AWS Braket's list of tasks has no end")
    },

    async look(at, id, signal) {
      const session = await sessionOf(at, id, signal)
      return viewOf(await taskOf(session, id, { additionalAttributeNames: 'QueueInfo' }, signal))
    },

    async counts(at, id, task, signal) {
      const session = await sessionOf(at, id, signal)
      const { outputS3Bucket, outputS3Directory, endedAt } = await taskOf(session, id, {}, signal)
      if (typeof outputS3Directory !== 'string')
        throw new ProviderFault('unclear', 'AWS Braket did not say where the result is')
      const file = {
        bucket: at.place.bucket ?? String(outputS3Bucket),
        key: `${outputS3Directory}/results.json`,
        bytesMax: resultBytesMax(task),
        endedAt: Date.parse(String(endedAt))
      }
      const text = await storage.read(session, file, signal)
      try {
        return countsOfResult(text, task)
      } catch (error) {
        throw new ProviderFault('refused', `AWS Braket's results cannot be read: ${(error as Error).message}`)
      }
    },

    async cancel(at, id, signal) {
      const session = await sessionOf(at, id, signal)
      // A token of its own each time: a request that had no effect must be made again.
      const json = { clientToken: randomUUID() }
      // 409: the task is over.
      await braket(
        session,
        { method: 'PUT', path: `/quantum-task/${escaped(id)}/cancel`, json, answers: [409] },
        signal
      )
    },

    async backends(credentials, signal) {
      if (!credentials) throw new ProviderFault('unauthorized', 'AWS Braket shows its devices only with credentials')
      return statesOfAll(braket, credentials, signal)
    },

    close: () => aws.close()
  }

  /** The bucket, and what would keep jobs from using it. */
  async function bucketDetails(session: Session, signal: AbortSignal): Promise<{ text: string; fault: string | null }> {
    if (session.credentials.s3_bucket === undefined)
      return { text: 'not set: jobs need s3_bucket', fault: 's3_bucket is not set: jobs need it' }
    const bucket = bucketOf(session.credentials)
    try {
      const readable = await storage.check(session, bucket, signal)
      const unknown = ' (whether results can be read is unknown without s3:ListBucket)'
      return { text: `${bucket.name}${readable ? '' : unknown}`, fault: null }
    } catch (error) {
      if (error instanceof ProviderFault)
        return { text: `${bucket.name} (${error.message})`, fault: `${bucket.name}: ${error.message}` }
      throw error
    }
  }
}

const bucketOf = ({ s3_bucket, s3_prefix = PREFIX }: Credentials): Bucket => ({
  name: s3_bucket!,
  prefix: s3_prefix.replace(/\/$/, '')
})

/** A refusal because of an earlier request with the same token, which was accepted: its task is found by the token. */
const isOfKnownToken = (error: unknown): boolean =>
  error instanceof ProviderFault && error.kind === 'refused' && /client ?token|idempoten/i.test(error.message)

/** Without `deviceParameters`, as Amazon's own SDK sends programs as text; without tags, which need a right of their own. */
function bodyOf({ token, target, program, shots }: ProviderJobRequest, { name, prefix }: Bucket) {
  const action = isAnalog(program)
    ? program.text
    : JSON.stringify({
        braketSchemaHeader: { name: 'braket.ir.openqasm.program', version: '1' },
        source: program.text
      })
  return {
    clientToken: token,
    deviceArn: target,
    shots,
    outputS3Bucket: name,
    outputS3KeyPrefix: `${prefix}/${token}`,
    action
  }
}
