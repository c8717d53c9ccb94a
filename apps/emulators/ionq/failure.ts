// Why a job failed, as IonQ says it after having accepted the job.

export type FailureCode =
  | 'InvalidInput'
  | 'CompilationError'
  | 'NotEnoughQubits'
  | 'SimulationError'
  | 'SimulationTimeout'
  | 'TooManyControls'
  | 'TooManyGates'
  | 'UnsupportedGate'

/** Thrown while a program is read or run; ends as the job's `failure`. */
export class JobFailure extends Error {
  override readonly name = 'JobFailure'
  constructor(
    readonly code: FailureCode,
    message: string
  ) {
    super(message)
  }
}
