// POST /jobs: the checks that IBM makes before it accepts a job. It knows no token of the client: each accepted request is a
// new job, which is paid for.
import { codes, IbmError, notValid } from './errors.js'
import type { Caller } from './iam/accounts.js'
import type { Job } from './job.js'
import { readJob } from './job-schema.js'
import type { IbmParts } from './parts.js'
import { readPubs } from './pubs.js'

/** @throws IbmError if IBM would refuse it. */
export function createJob(sent: unknown, caller: Caller, instance: string, parts: IbmParts): Job {
  const { clock, jobs, starts, settings, devices } = parts
  if (!starts.take(caller.user, settings.startsPerMinute, clock.now()))
    throw new IbmError(
      429,
      codes.tooManyRequests,
      `Too many job requests received: the limit is ${settings.startsPerMinute} per minute.`,
      'Reduce the request rate and try again.'
    )
  const body = readJob(sent)
  const device = devices.get(body.backend)
  if (!device || devices.status(device) === 'retired') throw backendNotFound(body.backend)
  if (body.session_id != null) throw notValid('session_id: this emulator has no sessions.')
  if (body.private) throw notValid('private: this emulator has no private jobs.')
  if (body.calibration_id != null && body.calibration_id !== jobs.calibrationId(device.name))
    throw notValid(`calibration_id: the calibration of ${device.name} is ${jobs.calibrationId(device.name)}.`)
  const read = readPubs(body.params, device)
  if (settings.usageLimitSeconds !== null && jobs.usedSeconds(instance) >= settings.usageLimitSeconds)
    throw new IbmError(
      409,
      codes.usageLimit,
      `The instance has used its limit of ${settings.usageLimitSeconds} seconds.`,
      'Wait for the next usage period, or raise the limit of the instance.'
    )
  const job = jobs.create(caller, instance, body, read)
  if (!job) throw new IbmError(409, codes.tooManyPending, 'This emulator is full: POST <control_url>/reset clears it.')
  return job
}

export const backendNotFound = (name: string): IbmError =>
  new IbmError(404, codes.backendNotFound, `Backend not found: ${name}.`, 'Verify the name of the backend.')
