import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { Notice, Refusal } from '../../components/notice.js'
import { TextBlock } from '../../components/text-block.js'
import { keepBrowserRun } from '../../jobs/compare/browser/browser-side.js'
import { BROWSER } from '../../jobs/compare/compare-search.js'
import { laidOut, SHOWN_BYTES } from '../../jobs/record/job-record.js'
import { readResultCounts } from '../../results/counts.js'
import { durationText } from '../../text/times.js'
import styles from '../playground.module.css'
import type { FinishedRun } from '../run/finished-run.js'
import type { RunState } from '../run/use-run.js'
import { Amplitudes, Probabilities } from './exact-tables.js'
import { Running } from './running.js'

export function Outcome(props: {
  state: RunState
  cancel: () => void
  /** Visitors have no jobs to compare with. */
  isVisitor: boolean
}) {
  const { state, cancel, isVisitor } = props
  switch (state.kind) {
    case 'none':
      return null
    case 'running':
      return <Running key={state.since} since={state.since} share={state.share} cancel={cancel} />
    case 'cancelled':
      return <Notice>The run is cancelled.</Notice>
    case 'failed':
      return <Refusal error={state.error} />
    case 'done':
      return <Finished run={state.run} isVisitor={isVisitor} />
  }
}

function Finished({ run, isVisitor }: { run: FinishedRun; isVisitor: boolean }) {
  const { where, result, warnings, stdout, ms, exact, converted } = run
  const queryClient = useQueryClient()
  const counts = useMemo(() => readResultCounts(result), [result])
  return (
    <section className={styles.outcome} aria-label="Outcome">
      <p role="status">
        Ran on {where}
        {ms === null ? '' : `, in ${durationText(ms)}`}.
      </p>
      {exact === null || isVisitor ? null : (
        <p>
          <Link
            to="/jobs/compare"
            search={{ a: BROWSER }}
            preload={false}
            onClick={() => keepBrowserRun(queryClient, run)}
          >
            Compare with a job
          </Link>
        </p>
      )}
      {[...new Set(warnings)].map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {counts && <CountsPicture reading={counts} name={where} />}
      {exact?.probabilities && <Probabilities probabilities={exact.probabilities} />}
      {exact?.amplitudes && <Amplitudes amplitudes={exact.amplitudes} qubits={exact.qubits} />}
      {stdout === '' ? null : (
        <>
          <h2>Output</h2>
          <TextBlock label="Output" text={stdout} />
        </>
      )}
      {converted === null ? null : <More title="The circuit as OpenQASM" text={converted} />}
      <More title="The whole result" text={result} />
    </section>
  )
}

/** Text that is put on the page when it is asked for. */
function More({ title, text }: { title: string; text: string }) {
  const [isOpen, setOpen] = useState(false)
  const isCut = text.length > SHOWN_BYTES
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && (
        <>
          {isCut && <p>This is the beginning of {text.length} characters.</p>}
          <TextBlock label={title} text={isCut ? text.slice(0, SHOWN_BYTES) : laidOut(text)} />
        </>
      )}
    </details>
  )
}
