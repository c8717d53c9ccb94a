// What a schedule means, and when it is due: in the zone that it names.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { Refusal } from '../../components/notice.js'
import { cronWords } from './cron-words.js'

const TYPING_MS = 400

/** What was typed, once the typing rests. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

interface Asked {
  cron: string
  timezone: string
  from?: string
  to?: string
}

export const previewQuery = (asked: Asked) =>
  queryOptions({
    queryKey: ['schedule preview', asked],
    enabled: asked.cron.trim() !== '' && asked.timezone !== '',
    queryFn: ({ signal }) => bodyOf(api.GET('/api/schedules/preview', { params: { query: asked }, signal }))
  })

export function SchedulePreview({ cron, timezone }: { cron: string; timezone: string }) {
  const asked = { cron: useRested(cron), timezone: useRested(timezone) }
  const preview = useQuery({ ...previewQuery(asked), placeholderData: keepPreviousData })
  const words = cronWords(cron)
  if (preview.error) return <Refusal error={preview.error} />
  if (!preview.data || cron.trim() === '') return null
  const { fault, next_runs: next } = preview.data
  if (fault !== null) return <p role="status">{fault}</p>
  return (
    <div role="status">
      {words === null ? null : (
        <p>
          {words}, times of {timezone}
        </p>
      )}
      <p>Next: {next.map((time) => timeIn(time, timezone)).join(' · ')}</p>
    </div>
  )
}

/** A zone that the browser does not know is left to the service; the time is then shown as it is stored. */
function timeIn(time: string, timezone: string): string {
  try {
    return new Intl.DateTimeFormat(undefined, {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: timezone
    }).format(new Date(time))
  } catch {
    return time
  }
}
