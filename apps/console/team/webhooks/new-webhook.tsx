import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { ActionForm } from '../parts/action-form.js'
import styles from '../parts/parts.module.css'
import { ShownOnce } from '../parts/shown-once.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { readTeamAgain, type TeamRecord, type Webhook } from '../team-queries.js'

type Event = Webhook['events'][number]

const events = {
  'job.completed': 'a job has its result',
  'job.failed': 'a job failed',
  'job.cancelled': 'a job was cancelled',
  'capsule.verified': 'a capsule run has its verdict, or a schedule raised an alert',
  'budget.exceeded': 'the budget refused a submission'
} as const satisfies Readonly<Record<Event, string>>

export function NewWebhook({ team }: { team: TeamRecord }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  const [url, setUrl] = useState('')
  const [chosen, setChosen] = useState<readonly Event[]>(['job.completed', 'job.failed'])
  /** While its dialog is open. */
  const [made, setMade] = useState<{ value: string | null } | null>(null)
  const toggle = (event: Event, on: boolean) =>
    setChosen((known) => (on ? [...known, event] : known.filter((one) => one !== event)))
  const make = async () => {
    const body = { team_id: team.id, url, events: [...chosen] }
    await action.run(async () => {
      const answer = await withKey(body, (header) =>
        bodyOf(api.POST('/api/team/webhooks', { params: { header }, body }))
      )
      setMade({ value: 'secret' in answer ? answer.secret : null })
      setUrl('')
    })
    await readTeamAgain(queryClient)
  }
  return (
    <section className={layout.section}>
      <h2>Add a webhook</h2>
      <ActionForm
        label="Add a webhook"
        button="Add the webhook"
        action={action}
        fields={['url', 'events']}
        why={whyNot(team.can.create_webhook)}
        onSubmit={() => void make()}
      >
        {(faultAt) => (
          <>
            <LimitedField
              label="Address"
              type="url"
              autoComplete="off"
              help="events are sent here by POST"
              limits={limitsOf('createWebhook', 'url')}
              value={url}
              onChange={setUrl}
              fault={faultAt('url')}
              isRequired
            />
            <fieldset className={styles.checks}>
              <legend>Events</legend>
              {Object.entries(events).map(([event, text]) => (
                <label key={event}>
                  <input
                    type="checkbox"
                    checked={chosen.includes(event as Event)}
                    onChange={({ target }) => toggle(event as Event, target.checked)}
                  />{' '}
                  {event}: {text}
                </label>
              ))}
            </fieldset>
            {faultAt('events') === null ? null : <p role="alert">{faultAt('events')}</p>}
          </>
        )}
      </ActionForm>
      {made ? (
        <ShownOnce
          title="The signing secret of the webhook"
          value={made.value}
          lost="The webhook was added, but the answer that shows its secret was lost. Delete it and add it again."
          onClose={() => setMade(null)}
        />
      ) : null}
    </section>
  )
}
