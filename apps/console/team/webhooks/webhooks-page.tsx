// Webhooks: where events are sent, and the log of each, with a test and another try.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { shownText } from '../../text/shown-text.js'
import { ConfirmButton } from '../parts/confirm.js'
import styles from '../parts/parts.module.css'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { readTeamAgain, type Webhook, webhooksQuery } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'
import { DeliveryLog } from './delivery-log.js'
import { NewWebhook } from './new-webhook.js'

export function WebhooksPage() {
  usePageTitle('Webhooks')
  const { id, record, error } = useTeamRecord()
  if (!record) return error ? <Refusal error={error} /> : <Loading />
  if (record.can.list_webhooks !== true) return <Notice>{record.can.list_webhooks}</Notice>
  return (
    <>
      <NewWebhook team={record} />
      <WebhookList teamId={id} />
    </>
  )
}

function WebhookList({ teamId }: { teamId: string }) {
  const { data: webhooks, error } = useQuery(webhooksQuery(teamId))
  if (!webhooks) return error ? <Refusal error={error} /> : <Loading />
  if (webhooks.length === 0) return <p>The team has no webhook.</p>
  return (
    <>
      {webhooks.map((webhook) => (
        <WebhookPart key={webhook.id} webhook={webhook} />
      ))}
    </>
  )
}

function WebhookPart({ webhook }: { webhook: Webhook }) {
  const queryClient = useQueryClient()
  const [testKey, deleteKey] = [useWriteKey(), useWriteKey()]
  const action = useAction()
  const [open, setOpen] = useState(false)
  /** Raised by each press that sends something. */
  const [round, setRound] = useState(0)
  const path = { id: webhook.id }
  const url = shownText(webhook.url)
  const again = () => readTeamAgain(queryClient)
  const test = async () => {
    await action.run(() =>
      testKey(path, (header) => bodyOf(api.POST('/api/team/webhooks/{id}/test', { params: { path, header } })))
    )
    // Its log shows how the test went.
    setOpen(true)
    setRound((last) => last + 1)
    await again()
  }
  const remove = async () => {
    await deleteKey(path, (header) => bodyOf(api.DELETE('/api/team/webhooks/{id}', { params: { path, header } })))
    await again()
  }
  return (
    <section className={layout.section} aria-label={`Webhook ${url}`}>
      <h2 className={styles.wide}>{url}</h2>
      <p className={layout.quiet}>
        {webhook.events.join(', ')}; since <Time at={webhook.created_at} />
      </p>
      <div className={layout.bar}>
        <Button why={whyNot(webhook.can.test)} isDisabled={action.pending} onPress={() => void test()}>
          Send a test
        </Button>
        <Button aria-expanded={open} onPress={() => setOpen(!open)}>
          {open ? 'Hide the log' : 'Show the log'}
        </Button>
        <ConfirmButton
          text="Delete"
          title="Delete the webhook"
          why={whyNot(webhook.can.delete)}
          act={remove}
          onRefused={again}
        >
          <p>Nothing is sent to {url} any more. Its log is deleted, and pending deliveries are cancelled.</p>
        </ConfirmButton>
      </div>
      <Refusal error={action.error} />
      {open ? <DeliveryLog webhook={webhook} round={round} onSent={() => setRound(round + 1)} /> : null}
    </section>
  )
}
