// The filters of an audit trail, as its address holds them. The service decides what they mean.
export interface TrailFilters {
  action?: string
  /** ISO 8601. */
  from?: string
  to?: string
  /** Only what was done to this capsule. */
  capsule?: string
  /** Only entries up to this number. */
  entry?: number
}

export function readTrailFilters({ action, from, to, capsule, entry }: Record<string, unknown>): TrailFilters {
  const texts = Object.entries({ action, from, to, capsule }).filter(
    ([, value]) => typeof value === 'string' && value !== ''
  )
  const number = typeof entry === 'number' && Number.isSafeInteger(entry) && entry > 0 ? { entry } : {}
  return { ...(Object.fromEntries(texts) as TrailFilters), ...number }
}

/** A time of the address in the browser's zone, as a field for times takes it; '' where it is none. */
export function localTime(iso: string | undefined): string {
  const at = new Date(iso ?? '')
  if (Number.isNaN(at.getTime())) return ''
  const padded = (value: number, length = 2) => String(value).padStart(length, '0')
  const day = `${padded(at.getFullYear(), 4)}-${padded(at.getMonth() + 1)}-${padded(at.getDate())}`
  return `${day}T${padded(at.getHours())}:${padded(at.getMinutes())}:${padded(at.getSeconds())}`
}

/** `undefined` where the field holds no time. */
export function isoTime(local: string): string | undefined {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
