// A link to a program with its shots and its seed. All of it stands in the fragment, which no browser sends to a service.

export interface Shared {
  program: string
  shots: string
  /** '' for none. */
  seed: string
}

/** Longer addresses are cut by chat programs and mail, and refused by some browsers. */
const FRAGMENT_MAX = 32_000

/** What follows is base64url of JSON: every part of the way leaves its characters as they are. */
const MARK = 'run.'

/** Without the `#`; `null` for a program that is too long for a link. */
export function fragmentOf({ program, shots, seed }: Shared): string | null {
  const bytes = new TextEncoder().encode(JSON.stringify({ program, shots, seed }))
  if (bytes.length > FRAGMENT_MAX) return null
  const text = btoa(String.fromCharCode(...bytes))
  const fragment = MARK + text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  return fragment.length > FRAGMENT_MAX ? null : fragment
}

/** What a fragment holds; `null` where it is not of a link to a program. */
export function sharedIn(fragment: string): Shared | null {
  const text = fragment.replace(/^#/, '')
  if (!text.startsWith(MARK) || text.length > FRAGMENT_MAX) return null
  try {
    const binary = atob(text.slice(MARK.length).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const { program, shots, seed } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    const isText = (value: unknown): value is string => typeof value === 'string'
    return isText(program) && isText(shots) && isText(seed) ? { program, shots, seed } : null
  } catch {
    return null
  }
}
