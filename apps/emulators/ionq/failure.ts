// The reason why an accepted job failed, in IonQ's form.

export type FailureCode =
  | 'InvalidInput'
  | 'CompilationError'
  | 'NotEnoughQubits'
  | 'SimulationError'
  | 'SimulationTimeout'
  | 'SystemCancel'
  | 'TooManyControls'
  | 'TooManyGates'
  | 'UnsupportedGate'

/** Thrown while a program is read or run; becomes the job's `failure`. */
export class JobFailure extends Error {
  override readonly name = 'JobFailure'
  constructor(
    readonly code: FailureCode,
    message: string
  ) {
    super(message)
  }
}
