import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { type Delivery, deliveriesQuery, type Webhook } from '../team-queries.js'
import { lookAgainIn } from './look-again.js'

/** @param props.round changes when something was sent: the log is then read again until it has left. */
export function DeliveryLog(props: { webhook: Webhook; round: number; onSent: () => void }) {
  const { webhook, round, onSent } = props
  const query = deliveriesQuery(webhook.team_id, webhook.id, round)
  const { data, error } = useQuery({
    ...query,
    placeholderData: keepPreviousData,
    // A worker sends within a second; no event tells of it.
    refetchInterval: ({ state }) => lookAgainIn(state.data, state.dataUpdateCount)
  })
  if (!data) return error ? <Refusal error={error} /> : <Loading />
  if (data.length === 0) return <p>Nothing has been sent yet.</p>
  return (
    <Table
      label="Deliveries"
      heads={['Event', 'State', 'Tries', 'Answer', 'Recorded', 'Delivered', 'Next try', 'Actions']}
    >
      {data.map((delivery) => (
        <Row key={delivery.id} webhook={webhook} delivery={delivery} onSent={onSent} />
      ))}
    </Table>
  )
}

function Row(props: { webhook: Webhook; delivery: Delivery; onSent: () => void }) {
  const { webhook, delivery, onSent } = props
  const withKey = useWriteKey()
  const action = useAction()
  const path = { id: webhook.id, deliveryId: delivery.id }
  const again = async () => {
    await action.run(() =>
      withKey(path, (header) =>
        bodyOf(api.POST('/api/team/webhooks/{id}/deliveries/{deliveryId}/again', { params: { path, header } }))
      )
    )
    onSent()
  }
  return (
    <tr>
      <td>{delivery.event}</td>
      <td>{delivery.state}</td>
      <td>{delivery.tries}</td>
      <Wide>{delivery.last_error ?? delivery.last_status ?? '–'}</Wide>
      <td>
        <Time at={delivery.created_at} />
      </td>
      <td>
        <Time at={delivery.delivered_at} />
      </td>
      <td>
        <Time at={delivery.next_try_at} />
      </td>
      <td>
        <Button why={whyNot(delivery.can.send_again)} isDisabled={action.pending} onPress={() => void again()}>
          Send again
        </Button>
        <Refusal error={action.error} />
      </td>
    </tr>
  )
}
