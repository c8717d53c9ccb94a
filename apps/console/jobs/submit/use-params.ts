import { useMemo, useRef } from 'react'
import { typedParams } from './settings.js'

/**
 * The parameters of a form besides shots and seed: the same object until one of them changes, and the last that were right
 * while what is typed is no JSON.
 * @param text as typed.
 * @param others parameters beside them. The same object for the same parameters.
 * @param own names that have a field of their own.
 */
export function useParams(
  text: string,
  others: object,
  own: readonly string[]
): { params: object; fault: string | null } {
  const taken = own.join(' ')
  const read = useMemo(() => {
    const typed = typedParams(text, taken.split(' '))
    return 'fault' in typed ? typed : { value: { ...others, ...typed.value } }
  }, [text, others, taken])
  const last = useRef<object>(others)
  if ('value' in read) last.current = read.value
  return { params: last.current, fault: 'fault' in read ? read.fault : null }
}
