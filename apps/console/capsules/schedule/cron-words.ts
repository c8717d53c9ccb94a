import cronstrue from 'cronstrue'

/** `null` while it cannot be read. The service decides whether it is taken. */
export function cronWords(cron: string): string | null {
  try {
    return cronstrue.toString(cron.trim(), { use24HourTimeFormat: true, verbose: true })
  } catch {
    return null
  }
}
