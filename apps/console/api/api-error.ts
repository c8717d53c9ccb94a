/** A refusal of the service, in its words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly status: number,
    message: string,
    /** Of the catalogue in docs/errors.md; `null` where the service sent none. */
    readonly code: string | null
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
    response.headers.get('x-error-code')
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
