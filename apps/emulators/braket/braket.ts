// The emulated AWS Braket, with the parts of S3 and STS that belong to it.
import type { EmulatedClock } from '../clock.js'
import type { EmulatedProvider, RequestLine, Timing } from '../provider.js'
import { describedPair, Keys } from './aws/keys.js'
import { errorOfStatus, expiredTokenReply, refusalOf, serviceOf } from './aws/replies.js'
import { mainBucket, ObjectStore } from './aws/s3.js'
import { braketControls } from './control-routes.js'
import { Devices } from './devices.js'
import type { BraketParts } from './parts.js'
import { braketRoutes } from './routes.js'
import type { BraketSettings } from './task.js'
import { TaskStore } from './tasks.js'

const firstSettings: BraketSettings = { queueDepth: 0, failedShots: 0 }

export function createBraket(clock: EmulatedClock, { timing }: { timing?: Partial<Timing> } = {}): EmulatedProvider {
  const settings = { ...firstSettings }
  const devices = new Devices(() => clock.now())
  const tasks = new TaskStore(clock, devices, settings, timing)
  const objects = new ObjectStore(
    () => clock.now(),
    (bucket, key) => tasks.resultAt(bucket, key)
  )
  const parts: BraketParts = { clock, keys: new Keys(clock), devices, tasks, objects, settings }
  return {
    name: 'aws-braket',
    basePath: '',
    credentials: {
      access_key_id: describedPair.accessKeyId,
      secret_access_key: describedPair.secretAccessKey,
      default_region: 'us-east-1',
      s3_bucket: mainBucket
    },
    variables: (address) => ({
      AWS_ENDPOINT_URL_BRAKET: address,
      AWS_ENDPOINT_URL_S3: address,
      AWS_ENDPOINT_URL_STS: address
    }),
    routes: (app) => braketRoutes(app, parts),
    controlRoutes: (app) => braketControls(app, parts),
    refusal: errorOfStatus,
    expiredToken: expiredTokenReply,
    resultNotThere: (line) => (isResult(line) ? refusalOf(objects.missing(), line) : null),
    withUnknownStatus: (payload, line) => (serviceOf(line) === 'braket' ? withUnknownStatus(payload) : payload),
    tasks: () => tasks.ledger(),
    setTiming: (changed) => tasks.setTiming(changed),
    setNoise: (level) => tasks.setNoise(level),
    setDeviceStatus: (name, status) => devices.setStatus(name, status),
    reset() {
      tasks.reset()
      objects.reset()
      devices.reset()
      parts.keys.reset()
      Object.assign(settings, firstSettings)
    }
  }
}

const isResult = ({ method, path }: RequestLine): boolean =>
  (method === 'GET' || method === 'HEAD') && path.endsWith('/results.json')

/** Replaces every `status` next to the ARN of a task. */
const withUnknownStatus = (payload: string): string =>
  JSON.stringify(
    JSON.parse(payload, (_key, value) =>
      value !== null && typeof value === 'object' && 'quantumTaskArn' in value && 'status' in value
        ? { ...value, status: 'RECALIBRATING' }
        : value
    )
  )
