// The Idempotency-Key of a form: the same for each try to send the same thing, a new one when something was changed or the
// last try succeeded.
import { useRef } from 'react'

/** `crypto.randomUUID` exists only on https and loopback. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** @returns a function that sends `write` under the key of its body. */
export function useWriteKey() {
  const last = useRef<{ body: string; key: string } | null>(null)
  return async <Result>(body: unknown, write: (header: { 'Idempotency-Key': string }) => Promise<Result>) => {
    const text = JSON.stringify(body)
    if (last.current?.body !== text) last.current = { body: text, key: randomKey() }
    const result = await write({ 'Idempotency-Key': last.current.key })
    last.current = null
    return result
  }
}
