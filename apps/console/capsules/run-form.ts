import { parse } from 'lossless-json'
import type { components } from '../api/schema.js'
import { numberOf } from '../text/number-of.js'

export interface RunForm {
  backend: string
  shots: string
  /** JSON. */
  params: string
}

/** The body of a run in mode template; `null` where the parameters are not a JSON object. Numbers keep every digit. */
export function runBody({ backend, shots, params: text }: RunForm): components['schemas']['RunCapsuleRequest'] | null {
  const params = paramsOf(text)
  if (params === null) return null
  return {
    mode: 'template',
    ...(Object.keys(params).length > 0 && { params }),
    ...(backend !== '' && { backend }),
    ...(shots.trim() !== '' && { shots: numberOf(shots) })
  }
}

function paramsOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {}
  try {
    const value = parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
