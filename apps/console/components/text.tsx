// How times and amounts read. The browser's zone and language decide how a time is written; its full form is in the title.

const shown = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function Time({ at }: { at: string | null }) {
  if (at === null) return <span>–</span>
  return (
    <time dateTime={at} title={at}>
      {shown.format(new Date(at))}
    </time>
  )
}

/** Amounts have at most six decimals, which a JavaScript number holds exactly; trailing zeros beyond cents are left out. */
export const usd = (amount: number | null): string =>
  amount === null ? '–' : `$${amount.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`

export function duration(fromIso: string, toIso: string): string {
  const ms = Math.max(0, new Date(toIso).getTime() - new Date(fromIso).getTime())
  if (ms < 1_000) return `${ms} ms`
  const seconds = ms / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Enough of an id to tell it from others on one page. Ids begin with their time, so the end differs more. */
export const shortId = (id: string): string => id.slice(-8)
