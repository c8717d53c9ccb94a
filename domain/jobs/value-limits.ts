// How much the values and the output of a job can take: of the memory of one execution, and of the database. A value is the
// function, the arguments or the result of a task. All limits are compared before a value is loaded or stored.
import type { JobError } from '../errors.js'

const KIB = 1024
const MIB = 1024 * KIB

/** All results of other tasks that one execution takes, together. The executor has the same limit. */
export const VALUES_BYTES_MAX = 32 * MIB

/**
 * All answers to a script's requests, together: a script that is replayed takes them in one request, and the executor
 * reads bodies up to 64 MiB.
 */
export const ANSWERS_BYTES_MAX = 48 * MIB

/** All values and requests that are stored for one job, each content counted once. */
export const JOB_VALUES_BYTES_MAX = 256 * MIB

/**
 * Executions of a script or task that begin in a row without an end that is recorded. Each of them has lost its worker,
 * and may be the cause.
 */
export const EXECUTIONS_BEGUN_MAX = 5

/** What a program prints in one attempt and its followers get, as UTF-8; the rest is counted. The executor has the same limit. */
export const OUTPUT_BYTES_MAX = 64 * KIB

/** The same for all attempts of a job and of its tasks, together. */
export const JOB_OUTPUT_BYTES_MAX = MIB

/** Events with text of one job, since each is a row: a run sends 50 pieces and then one a second. */
export const JOB_OUTPUT_EVENTS_MAX = 5_000

const inMib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`

const tooLarge = (what: string, bytes: number, max: number, hint: string): JobError | null =>
  bytes <= max
    ? null
    : {
        code: 'execution_error',
        message: `${what} have ${inMib(bytes)} together; the limit is ${max / MIB} MiB: ${hint}`
      }

/** Why a task cannot take results of this size; `null` when it can. */
export const valuesProblem = (bytes: number): JobError | null =>
  tooLarge('the results that it takes', bytes, VALUES_BYTES_MAX, 'pass less, or make large data inside the task')

/** Why a workflow cannot return results of this size. */
export const returnedProblem = (bytes: number): JobError | null =>
  tooLarge('the results that a workflow returns', bytes, VALUES_BYTES_MAX, 'return less, or compute it in a task')

/** Why a script cannot take answers of this size. */
export const answersProblem = (bytes: number): JobError | null =>
  tooLarge('the results that the script has received', bytes, ANSWERS_BYTES_MAX, 'return less from each workflow')

/** Why nothing more can be stored for a job. */
export const jobIsFull: JobError = {
  code: 'execution_error',
  message: `the values of the job's tasks would take more than ${JOB_VALUES_BYTES_MAX / MIB} MiB together: return less from each task`
}

/** The error of a job whose executions begin again and again, and never end. */
export const neverEnds: JobError = {
  code: 'internal_error',
  message: `${EXECUTIONS_BEGUN_MAX} executions in a row lost their worker before they finished; an operator has to check the logs of the workers`
}
