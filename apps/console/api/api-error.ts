export interface PlacedFault {
  field: string
  message: string
  line: number | null
  column?: number | null
}

/** A refusal of the service, in its words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly status: number,
    message: string,
    /** Of the catalogue in docs/errors.md; `null` where the service sent none. */
    readonly code: string | null,
    /** Of a source that was refused: each fault with its place. */
    readonly faults: readonly PlacedFault[] = []
  ) {
    super(message)
  }
}

/** The service could not be reached; whether it did anything is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'

  constructor(cause: unknown) {
    super('The service cannot be reached. Nothing that you have typed is lost; try again when it is back.', { cause })
  }
}

/** @param body the text of a response that is a refusal. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text()
  return new ApiError(
    response.status,
    messageIn(text) ?? `The service returned ${response.status} without a reason`,
    response.headers.get('x-error-code'),
    faultsIn(text)
  )
}

function messageIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : null
  } catch {
    return null
  }
}

function faultsIn(text: string): PlacedFault[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown }
    return Array.isArray(errors) ? (errors as PlacedFault[]) : []
  } catch {
    return []
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
