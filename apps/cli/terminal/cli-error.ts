// The failure of a command: one message for people, one exit code for scripts.

/** The exit codes that scripts can rely on; docs/cli.md lists them. 70 is an internal error of qjob. */
export const exitCodes = {
  done: 0,
  jobFailed: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  fault: 70,
  interrupted: 130
} as const

export type FailureKind = 'jobFailed' | 'usage' | 'unreachable' | 'refused'

/** `details` join the JSON that `--json` prints: the service's error code, HTTP status and figures. */
export class CliError extends Error {
  override readonly name = 'CliError'
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly details: Record<string, unknown> = {},
    options?: { cause?: unknown }
  ) {
    super(message, options)
  }

  get exitCode(): number {
    return exitCodes[this.kind]
  }
}
