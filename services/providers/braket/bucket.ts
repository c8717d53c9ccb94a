// The files of tasks in a team's bucket. Buckets are addressed by path: names with dots have no valid certificate as a host.
import { ProviderFault } from '../adapter.js'
import type { Session } from './api.js'
import { type Aws, escaped } from './aws.js'

/** How long S3 may need to show a file, or its own permission, after a task has ended. */
const LAG_MS_MAX = 10 * 60_000

export interface Bucket {
  name: string
  prefix: string
}

export interface Storage {
  /**
   * Requests a file that cannot exist, which needs no permission beyond those for results.
   * @returns `false` where S3 does not say whether results can be read.
   * @throws ProviderFault `refused` when there is no such bucket, or it is in another region.
   */
  check(session: Session, bucket: Bucket, signal: AbortSignal): Promise<boolean>
  /** @param bytesMax of a file, above which it is refused unread. @param endedAt when its task ended, by AWS's clock. */
  read(
    session: Session,
    file: { bucket: string; key: string; bytesMax: number; endedAt: number },
    signal: AbortSignal
  ): Promise<string>
}

export function createStorage(aws: Aws): Storage {
  const get = ({ credentials, region }: Session, bucket: string, key: string, range: string, signal: AbortSignal) => {
    const path = `/${escaped(bucket)}/${key.split('/').map(escaped).join('/')}`
    const headers = { accept: '*/*', range }
    return aws.call(credentials, { service: 's3', region, method: 'GET', path, headers }, signal)
  }

  return {
    async check(session, { name, prefix }, signal) {
      try {
        await get(session, name, `${prefix}/not-a-result`, 'bytes=0-0', signal)
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error
        // Without s3:ListBucket, S3 forbids what is not there. Braket itself refuses a bucket that it cannot use.
        if (error.kind === 'unauthorized') return false
        if (error.kind === 'refused') throw new ProviderFault('refused', `${error.message}; ${adviceFor(session)}`)
        if (error.kind !== 'not_found') throw error
      }
      return true
    },

    async read(session, { bucket, key, bytesMax, endedAt }, signal) {
      if (key.split('/').some((part) => part === '' || part === '.' || part === '..'))
        throw new ProviderFault('refused', 'AWS Braket names a folder for the result that cannot be one')
      const answer = await get(session, bucket, key, `bytes=0-${bytesMax - 1}`, signal).catch((error) => {
        throw error instanceof ProviderFault ? readFault(error, `s3://${bucket}/${key}`, endedAt) : error
      })
      const total = Number(/\/(\d+)$/.exec(String(answer.headers['content-range'] ?? ''))?.[1] ?? 0)
      if (total > bytesMax || Buffer.byteLength(answer.text) > bytesMax)
        throw new ProviderFault(
          'refused',
          `s3://${bucket}/${key} is longer than ${bytesMax} bytes, which no result of the task is`
        )
      return answer.text
    }
  }
}

const adviceFor = ({ region }: Session): string =>
  `set s3_bucket in the team's aws-braket credentials to a bucket in ${region}, where the device is`

/** A result that was paid is not given up for what the team can repair. */
function readFault({ kind, message, retryAfterMs }: ProviderFault, file: string, endedAt: number): ProviderFault {
  const unreadable = `the result ${file} cannot be read: ${message}`
  if (kind === 'refused') return new ProviderFault('unauthorized', unreadable)
  if (kind !== 'unauthorized') return new ProviderFault(kind, message, retryAfterMs)
  if (!(Date.now() - endedAt > LAG_MS_MAX))
    return new ProviderFault('not_found', `${message}: the result is not there yet, or cannot be read`)
  return new ProviderFault('unauthorized', `${unreadable} (the credentials need s3:GetObject for it)`)
}
