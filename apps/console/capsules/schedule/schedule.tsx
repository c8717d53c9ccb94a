// When a capsule is verified by itself, whom an unexpected verdict is told, and past times that are run after all.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { fieldFault } from '../../api/field-fault.js'
import { metaQuery } from '../../api/queries.js'
import type { components } from '../../api/schema.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Time } from '../../components/text.js'
import { membersQuery } from '../../team/team-queries.js'
import { VerdictBadge } from '../badges.js'
import own from '../capsules.module.css'
import { scheduleQuery } from '../record/capsule-queries.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { refusalOf, wordsOf } from '../words.js'
import { Backfill } from './backfill.js'
import { SchedulePreview } from './preview.js'

type CapsuleSchedule = components['schemas']['CapsuleSchedule']
type Outcome = CapsuleSchedule['alert']['on'][number]

const ENGINE_MS = 3_000

const outcomes = ['different', 'drifted', 'failed', 'not_testable'] as const satisfies Outcome[]

/** Only a capsule that has a schedule is asked for it: others would be answered 404. */
export function Schedule({ capsule }: { capsule: ReadCapsule }) {
  const { id, schedule: summary } = capsule.record
  const schedule = useQuery({
    ...scheduleQuery(id),
    enabled: summary !== null,
    // No event tells that the engine has it.
    refetchInterval: ({ state }) => (state.data?.engine.state === 'pending' ? ENGINE_MS : false)
  })
  if (summary === null) return <ScheduleForm capsule={capsule} schedule={null} />
  if (!schedule.data) return schedule.error ? <Refusal error={schedule.error} /> : <Loading />
  return (
    <>
      <Refusal error={schedule.error} />
      <State schedule={schedule.data} />
      <ScheduleForm key={schedule.data.updated_at} capsule={capsule} schedule={schedule.data} />
      <Backfill capsule={capsule} schedule={schedule.data} />
    </>
  )
}

function State({ schedule: { engine, last_run: last } }: { schedule: CapsuleSchedule }) {
  return (
    <>
      {engine.state === 'applied' ? null : (
        <Notice tone={engine.state === 'refused' ? 'bad' : 'info'}>
          {engine.state === 'refused'
            ? `The engine refuses this schedule: ${engine.reason ?? 'it gave no reason'}`
            : 'The engine has not got this schedule yet; it gets it within seconds, or when it is back.'}
        </Notice>
      )}
      {last === null ? (
        <p>It has not run yet.</p>
      ) : (
        <p>
          Last run: {wordsOf(last.trigger)}, due <Time at={last.scheduled_at} />, {last.status}
          {last.verdict === null ? null : (
            <>
              , <VerdictBadge verdict={last.verdict} />
            </>
          )}
          {last.reason === null ? '' : `: ${last.reason}`}
        </p>
      )}
    </>
  )
}

interface ScheduleFields {
  cron: string
  timezone: string
  paused: boolean
  emails: readonly string[]
  on: readonly Outcome[]
}

const fieldsOf = (schedule: CapsuleSchedule | null): ScheduleFields =>
  schedule
    ? {
        cron: schedule.cron,
        timezone: schedule.timezone,
        paused: schedule.paused,
        emails: schedule.alert.emails,
        on: schedule.alert.on
      }
    : {
        cron: '@daily',
        timezone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC',
        paused: false,
        emails: [],
        on: outcomes
      }

const zones = Intl.supportedValuesOf('timeZone')

function ScheduleForm({ capsule, schedule }: { capsule: ReadCapsule; schedule: CapsuleSchedule | null }) {
  const { id, team_id: team, can } = capsule.record
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [form, setForm] = useState(() => fieldsOf(schedule))
  const set = (changes: Partial<ScheduleFields>) => setForm((known) => ({ ...known, ...changes }))
  const settled = {
    onSettled: async () => {
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      await queryClient.invalidateQueries({ queryKey: ['capsule', id] })
    }
  }
  const save = useMutation({
    mutationFn: () => {
      const { cron, timezone, paused, emails, on } = form
      const body = { cron, timezone, paused, alert: { emails: [...emails], on: [...on] } }
      return withKey([id, body], (header) =>
        bodyOf(api.PUT('/api/capsules/{id}/schedule', { params: { path: { id }, header }, body }))
      )
    },
    ...settled
  })
  const end = useMutation({
    mutationFn: () =>
      withKey(['end', id], (header) =>
        bodyOf(api.DELETE('/api/capsules/{id}/schedule', { params: { path: { id }, header } }))
      ),
    ...settled
  })
  const fault = fieldFault(save.error, ['cron', 'timezone', 'alert'])
  const faultAt = (field: string) => (fault?.field === field ? fault.text : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className={layout.panel} onSubmit={send}>
      <h2>{schedule ? 'Change the schedule' : 'Verify on a schedule'}</h2>
      <div className={layout.filters}>
        <LimitedField
          label="Cron"
          limits={limitsOf('setCapsuleSchedule', 'cron')}
          value={form.cron}
          onChange={(cron) => set({ cron })}
          fault={faultAt('cron')}
          help="Minute, hour, day of the month, month, day of the week; or @daily and the like"
        />
        <label className={own.zone}>
          Time zone
          <input list="time-zones" value={form.timezone} onChange={(event) => set({ timezone: event.target.value })} />
        </label>
        <datalist id="time-zones">
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      {faultAt('timezone') ? <Notice tone="bad">{faultAt('timezone')}</Notice> : null}
      <SchedulePreview cron={form.cron} timezone={form.timezone} />
      <label className={own.check}>
        <input type="checkbox" checked={form.paused} onChange={(event) => set({ paused: event.target.checked })} />
        Paused
      </label>
      <Alerts team={team} form={form} set={set} />
      {faultAt('alert') ? <Notice tone="bad">{faultAt('alert')}</Notice> : null}
      <Refusal error={fault ? end.error : (save.error ?? end.error)} />
      <div className={layout.bar}>
        <Button kind="main" type="submit" why={refusalOf(can?.schedule)} isDisabled={save.isPending}>
          {schedule ? 'Save the schedule' : 'Set the schedule'}
        </Button>
        {schedule ? (
          <Button
            kind="danger"
            why={refusalOf(can?.end_schedule)}
            isDisabled={end.isPending}
            onPress={() => end.mutate()}
          >
            End the schedule
          </Button>
        ) : null}
      </div>
    </form>
  )
}

function Alerts(props: { team: string; form: ScheduleFields; set: (changes: Partial<ScheduleFields>) => void }) {
  const { team, form, set } = props
  const { data: meta } = useQuery(metaQuery)
  const members = useQuery(membersQuery(team))
  const sends = meta?.features.mail !== false
  const addresses = members.data?.map(({ email }) => email) ?? []
  // A former member stays in the list until it is taken out.
  const offered = [...new Set([...addresses, ...form.emails])]
  return (
    <>
      <fieldset className={own.task}>
        <legend>Alert when a confirmed verification is</legend>
        {outcomes.map((outcome) => (
          <label key={outcome} className={own.check}>
            <input
              type="checkbox"
              checked={form.on.includes(outcome)}
              onChange={(event) => set({ on: toggled(form.on, outcome, event.target.checked) })}
            />
            {wordsOf(outcome)}
          </label>
        ))}
      </fieldset>
      <fieldset className={own.task}>
        <legend>Alerts by mail to members</legend>
        {sends ? null : <p>This service sends no mail; its operator has to set SMTP_URL.</p>}
        <Refusal error={members.error} />
        {offered.map((email) => (
          <label key={email} className={own.check}>
            <input
              type="checkbox"
              checked={form.emails.includes(email)}
              onChange={(event) => set({ emails: toggled(form.emails, email, event.target.checked) })}
            />
            {email}
          </label>
        ))}
      </fieldset>
    </>
  )
}

const toggled = <Value,>(all: readonly Value[], one: Value, on: boolean): Value[] =>
  on ? [...all, one] : all.filter((value) => value !== one)
