// All fields of one entry. What it records is text, whoever wrote it.
import { useQuery } from '@tanstack/react-query'
import { Button } from '../components/button.js'
import { Fact, Facts } from '../components/facts.js'
import layout from '../components/layout.module.css'
import { Modal } from '../components/modal.js'
import { Loading, Notice, Refusal } from '../components/notice.js'
import { Time } from '../components/text.js'
import { TextBlock } from '../components/text-block.js'
import styles from './audit.module.css'
import { entryQuery } from './trail-queries.js'
import { actorText, stateText, trailActions } from './trail-texts.js'

/** @param fault why the proof names it. */
export function EntryDialog(props: {
  team: { team_id?: string }
  seq: number
  fault?: string | null
  onClose: () => void
}) {
  const { team, seq, fault = null, onClose } = props
  const { data, error } = useQuery(entryQuery(team, seq))
  return (
    <Modal title={`Entry ${seq}`} onClose={onClose}>
      {fault === null ? null : <Notice tone="bad">{fault}</Notice>}
      <Refusal error={error} />
      {data === undefined && !error ? <Loading /> : null}
      {data === null ? <Notice tone="warn">The trail has no entry with this number.</Notice> : null}
      {data ? (
        <>
          <Facts>
            <Fact name="Action">
              {trailActions[data.entry.action] ?? data.entry.action} <code>{data.entry.action}</code>
            </Fact>
            <Fact name="Who">
              {actorText(data.entry.actor, data.actors)}
              <div className={layout.quiet}>{data.entry.actor}</div>
            </Fact>
            <Fact name="When">
              <Time at={data.entry.at} />
            </Fact>
            <Fact name="State">{stateText(data.entry) || '–'}</Fact>
            <Fact name="Capsule">{data.entry.capsule_id ?? '–'}</Fact>
          </Facts>
          <TextBlock label="What it records" text={JSON.stringify(data.entry.metadata, null, 2)} />
          <Facts>
            <Fact name="Hash of the entry before">
              <code className={styles.hash}>{data.entry.prev_hash}</code>
            </Fact>
            <Fact name="Hash">
              <code className={styles.hash}>{data.entry.hash}</code>
            </Fact>
          </Facts>
        </>
      ) : null}
      <Button onPress={onClose}>Close</Button>
    </Modal>
  )
}
