// The proof of a team's trail, on request: it reads everything that the team ever sealed.
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useNow } from '../charts/use-now.js'
import { Button } from '../components/button.js'
import { Fact, Facts } from '../components/facts.js'
import layout from '../components/layout.module.css'
import { Notice, Refusal } from '../components/notice.js'
import { groupedDigits, numbered } from '../text/exact-numbers.js'
import styles from './audit.module.css'
import { EntryDialog } from './entry-dialog.js'
import { type Proof, type ProofProgress, prove } from './trail-queries.js'

export function ProveIt({ team }: { team: { team_id?: string } }) {
  const [progress, setProgress] = useState<ProofProgress | null>(null)
  const proof = useMutation({
    mutationFn: () => {
      setProgress(null)
      return prove(team, setProgress)
    }
  })
  return (
    <section className={layout.section} aria-label="Proof">
      <div className={layout.bar}>
        <Button kind="main" onPress={() => proof.mutate()} isDisabled={proof.isPending}>
          Prove it
        </Button>
        {proof.isPending ? <Progress since={proof.submittedAt} progress={progress} /> : null}
      </div>
      <Refusal error={proof.error} />
      {proof.data ? <Report key={proof.submittedAt} team={team} proof={proof.data} /> : null}
    </section>
  )
}

/** @param progress `null` before the proof has begun: another one may come first. */
function Progress({ since, progress }: { since: number; progress: ProofProgress | null }) {
  const now = useNow(true)
  const seconds = `${Math.max(0, Math.round((now - since) / 1_000))} s`
  return (
    <span>
      <progress aria-label="The trail is proved" value={progress?.entries} max={progress?.of} />{' '}
      {progress
        ? `${groupedDigits(progress.entries)} of ${groupedDigits(progress.of)} entries are proved with their checkpoints and seals, ${seconds}`
        : `the proof begins, ${seconds}`}
    </span>
  )
}

function Report({ team, proof }: { team: { team_id?: string }; proof: Proof }) {
  const { first_broken: broken } = proof
  const [opened, setOpened] = useState(broken !== null)
  return (
    <>
      {proof.ok ? (
        <Notice tone="ok">
          The trail holds: {groupedDigits(proof.entries)} {proof.entries === 1 ? 'entry' : 'entries'}.
        </Notice>
      ) : (
        <Notice tone="bad">
          {broken
            ? `The trail was changed. The first entry that is not as it was written is ${broken.seq}: ${broken.reason}`
            : 'The trail cannot be proved.'}
        </Notice>
      )}
      {broken ? <Button onPress={() => setOpened(true)}>Open entry {broken.seq}</Button> : null}
      <Facts>
        <Fact name="Head: note it down, outside this service">
          entry {groupedDigits(proof.head.seq)}
          <br />
          <code className={styles.hash}>{proof.head.hash}</code>
        </Fact>
        <Fact name="Signed checkpoints that hold">
          {groupedDigits(proof.checkpoints)}, up to entry {groupedDigits(proof.signed_up_to)}
        </Fact>
        <Fact name="Sealed capsules that match their seal">{groupedDigits(proof.seals)}</Fact>
        <Fact name="Checkpoints outside the database">{outsideText(proof)}</Fact>
      </Facts>
      {opened && broken ? (
        <EntryDialog team={team} seq={broken.seq} fault={broken.reason} onClose={() => setOpened(false)} />
      ) : null}
    </>
  )
}

function outsideText({ checkpoints_outside: outside }: Proof): string {
  if (!outside) return 'There is no team, so there are none.'
  const { compared, checkpoints, unreadable_lines, reason } = outside
  const unreadable = unreadable_lines > 0 ? `; ${numbered(unreadable_lines, 'line')} cannot be read` : ''
  return compared
    ? `Compared: ${numbered(checkpoints, 'checkpoint')} of the team outside the database${unreadable}`
    : `Not compared: ${reason}${unreadable}`
}
