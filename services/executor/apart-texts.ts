// The long texts of an outcome. They follow its line as they are, in the order of their fields: as strings of its JSON, 15 MiB
// would hold the event loops of both sides for 0.1 s.

/** The header of a request whose caller reads them so. An executor of an earlier release ignores it. */
export const apartTexts = { 'x-executor-texts': 'apart' }

/** All of one outcome together: a result with what is shown of it, of at most 16 MiB each. */
const BYTES_MAX = 40 * 1024 * 1024

interface Fields {
  result?: unknown
  display?: unknown
  points?: unknown
}

interface Place {
  bytes: Buffer
  put(text: string): void
}

export class ApartTexts {
  readonly #places: Place[]
  readonly #outcome: Fields
  #filled = 0

  private constructor(outcome: Fields, places: Place[]) {
    this.#outcome = outcome
    this.#places = places
  }

  /**
   * The texts that follow an outcome; `null`: none do.
   * @throws Error when the service breaks the protocol.
   */
  static of(outcome: Fields): ApartTexts | null {
    const points = Array.isArray(outcome.points) ? (outcome.points as Fields[]) : []
    const fields: [Fields, 'result' | 'display'][] = [
      [outcome, 'result'],
      [outcome, 'display']
    ]
    for (const point of points) fields.push([point, 'result'])
    const places: Place[] = []
    let left = BYTES_MAX
    for (const [holder, name] of fields) {
      const size = (holder[name] as { bytes?: unknown } | null | undefined)?.bytes
      if (size === undefined) continue
      if (!Number.isSafeInteger(size) || (size as number) < 1 || (size as number) > left)
        throw new Error('a text of the execution service has an invalid length')
      left -= size as number
      const put = (text: string) => {
        holder[name] = text
      }
      places.push({ bytes: Buffer.allocUnsafe(size as number), put })
    }
    return places.length > 0 ? new ApartTexts(outcome, places) : null
  }

  /**
   * Adds the next bytes of the stream.
   * @returns whether all texts have just become part of the outcome. What comes after them is ignored.
   */
  add(chunk: Buffer): boolean {
    let rest = chunk
    while (rest.length > 0 && this.#places.length > 0) {
      const { bytes, put } = this.#places[0]!
      const taken = rest.copy(bytes, this.#filled)
      this.#filled += taken
      rest = rest.subarray(taken)
      if (this.#filled < bytes.length) return false
      put(bytes.toString('utf8'))
      this.#places.shift()
      this.#filled = 0
      if (this.#places.length > 0) continue
      if ((this.#outcome.display as { same_as?: unknown } | null | undefined)?.same_as === 'result')
        this.#outcome.display = this.#outcome.result
      return true
    }
    return false
  }
}
