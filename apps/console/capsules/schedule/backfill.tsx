// Runs that the present schedule would have had in a past range, or none of them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import type { components } from '../../api/schema.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Notice, Refusal } from '../../components/notice.js'
import { usd } from '../../components/text.js'
import { numbered } from '../../text/exact-numbers.js'
import own from '../capsules.module.css'
import { runQuery } from '../record/capsule-queries.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { refusalOf } from '../words.js'
import { previewQuery } from './preview.js'

export function Backfill(props: { capsule: ReadCapsule; schedule: components['schemas']['CapsuleSchedule'] }) {
  const { schedule } = props
  const { id, can } = props.capsule.record
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [range, setRange] = useState({ from: '', to: '' })
  const [from, to] = [isoOf(range.from), isoOf(range.to)]
  const asked = { cron: schedule.cron, timezone: schedule.timezone, ...(from && to && { from, to }) }
  const preview = useQuery({ ...previewQuery(asked), enabled: from !== null && to !== null })
  const last = schedule.last_run?.capsule_run_id
  const lastRun = useQuery({ ...runQuery(id, last ?? ''), enabled: last !== undefined && from !== null && to !== null })
  const run = useMutation({
    mutationFn: () => {
      const body = { from: from ?? range.from, to: to ?? range.to }
      return withKey([id, body], (header) =>
        bodyOf(api.POST('/api/capsules/{id}/schedule/backfill', { params: { path: { id }, header }, body }))
      )
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['capsule', id] })
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    run.mutate()
  }
  const due = preview.data?.due
  const each = lastRun.data?.estimated_cost_usd
  return (
    <form className={layout.panel} onSubmit={send}>
      <h2>Run past times</h2>
      <p>
        All runs that the present schedule would have had in a range start at once, or none. Times that have a run
        already are passed over.
      </p>
      <div className={layout.filters}>
        {(['from', 'to'] as const).map((end) => (
          <label key={end} className={own.zone}>
            {end === 'from' ? 'From' : 'To'}
            <input
              type="datetime-local"
              value={range[end]}
              onChange={(event) => setRange((known) => ({ ...known, [end]: event.target.value }))}
            />
          </label>
        ))}
      </div>
      {preview.data?.fault ? <Notice tone="warn">{preview.data.fault}</Notice> : null}
      {due ? (
        <p role="status">
          {due.capped
            ? `More than ${numbered(due.count, 'run')}: choose a shorter range.`
            : `${numbered(due.count, 'run')}.`}
          {each === undefined || due.capped ? '' : ` Each may cost ${usd(each)}, the estimate of the last run.`}
        </p>
      ) : null}
      <Refusal error={run.error ?? preview.error} />
      {run.data ? (
        <Notice tone="ok">
          {numbered(run.data.count, 'run')} started; {numbered(run.data.passed_over, 'time')} had one already.
        </Notice>
      ) : null}
      <Button type="submit" why={refusalOf(can?.backfill)} isDisabled={run.isPending || from === null || to === null}>
        Run them
      </Button>
    </form>
  )
}

/** What the field holds is a time of the reader's own zone. */
function isoOf(local: string): string | null {
  const time = new Date(local)
  return local === '' || Number.isNaN(time.getTime()) ? null : time.toISOString()
}
