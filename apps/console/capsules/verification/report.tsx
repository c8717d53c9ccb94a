// What a verification says: the verdict in words with its error rate, the distances on one axis, and the sealed and the new
// counts of each circuit beside each other.
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Check, Verification } from '../../../../domain/verification/report.js'
import type { components } from '../../api/schema.js'
import type { HistogramData } from '../../charts/histogram/histogram-layout.js'
import { HistogramView } from '../../charts/histogram/histogram-view.js'
import { Button } from '../../components/button.js'
import { Notice, Refusal } from '../../components/notice.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { clipped } from '../../text/shown-text.js'
import { durationText } from '../../text/times.js'
import { VerdictBadge } from '../badges.js'
import own from '../capsules.module.css'
import type { ReadCapsule } from '../record/capsule-record.js'
import { useStartRun } from '../use-start-run.js'
import { percentOf, refusalOf, toneOf, wordsOf } from '../words.js'
import { Distance } from './distance.js'
import { pairedCounts } from './paired-counts.js'
import { resultTextQuery } from './report-queries.js'

type Run = components['schemas']['CapsuleRun']

/** A report can have a thousand circuits. */
const SHOWN_FIRST = 10
const NAME_CELLS = 60

export function Report({ capsule, run }: { capsule: ReadCapsule; run: Run }) {
  const report = run.verification as unknown as Verification
  const { pairs, note, error } = usePairs(capsule, run)
  const [shown, setShown] = useState(SHOWN_FIRST)
  const checks = report.checks.slice(0, shown)
  return (
    <>
      <Notice tone={toneOf(report.verdict)}>
        <strong>{wordsOf(report.verdict)}</strong>: {report.reason}
      </Notice>
      <p>
        Error rate: an unchanged capsule is found different in {percentOf(report.alpha)} of its verifications (alpha),
        over all its circuits together. The bound holds with {percentOf(1 - report.beta)} confidence.
      </p>
      <NeededShots capsule={capsule} shots={report.needed_shots ?? null} />
      <Refusal error={error} />
      {note === null ? null : <p>{note}</p>}
      {checks.map((check) => (
        <Circuit
          key={check.name}
          check={check}
          margin={report.margin}
          pair={pairs.get(check.name) ?? null}
          alone={report.checks.length === 1}
        />
      ))}
      {report.checks.length > shown ? (
        <Button onPress={() => setShown(shown + SHOWN_FIRST)}>
          {`Show more of the ${groupedDigits(report.checks.length)} circuits`}
        </Button>
      ) : null}
    </>
  )
}

function NeededShots({ capsule, shots }: { capsule: ReadCapsule; shots: number | null }) {
  const start = useStartRun(capsule.record.id)
  if (shots === null) return null
  return (
    <>
      <Button
        kind="main"
        why={refusalOf(capsule.record.can?.verify)}
        isDisabled={start.isPending}
        onPress={() => start.mutate({ mode: 'verify', shots })}
      >
        {`Verify again with ${groupedDigits(shots)} shots`}
      </Button>
      <Refusal error={start.error} />
    </>
  )
}

const noPairs: ReadonlyMap<string, HistogramData> = new Map()

/** A capsule that can be verified has one task; its sealed result is a file of the evidence. */
function usePairs(capsule: ReadCapsule, run: Run) {
  const { id, evidence } = capsule.record
  const sealed = evidence.artifacts.find(({ name }) => /^tasks\/[^/]+\/result\.json$/.test(name))
  const { job_id: job, name: task = '' } = run.tasks[0] ?? {}
  const before = useQuery({
    ...resultTextQuery(`/api/capsules/${id}/files/${encodeURIComponent(sealed?.name ?? '')}`),
    enabled: sealed !== undefined && job !== undefined
  })
  const after = useQuery({
    ...resultTextQuery(`/api/jobs/${job}/result`),
    enabled: sealed !== undefined && job !== undefined
  })
  const pairs = useMemo(
    () => (before.data && after.data ? pairedCounts(task, before.data, after.data) : noPairs),
    [task, before.data, after.data]
  )
  const tooLarge = before.data === null || after.data === null
  return {
    pairs,
    error: before.error ?? after.error,
    note: tooLarge ? 'The results are too large to be drawn here; the evidence and the job have them.' : null
  }
}

function Circuit(props: { check: Check; margin: number; pair: HistogramData | null; alone: boolean }) {
  const { check, margin, pair, alone } = props
  const name = clipped(check.name === '' ? 'the circuit' : check.name, NAME_CELLS)
  const { tvd, tvd_upper, tvd_null } = check
  const distances = useMemo(() => ({ tvd, tvd_upper, tvd_null, margin }), [tvd, tvd_upper, tvd_null, margin])
  return (
    <section aria-label={`Circuit ${name}`}>
      {alone ? null : (
        <>
          <h3 className={own.text}>{name}</h3>
          <p>
            <VerdictBadge verdict={check.verdict} />: {check.reason}
          </p>
        </>
      )}
      {tvd === null ? null : <Distance distances={distances} title={`Distance, bound and margin of ${name}`} />}
      <p>{shotsText(check)}</p>
      {check.hardware ? <p>{hardwareText(check.hardware)}</p> : null}
      {check.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {pair ? <HistogramView title={`Sealed and new counts of ${name}`} data={pair} /> : null}
    </section>
  )
}

function shotsText({ n, m, outcomes, p_adjusted: p }: Check): string {
  if (n === null || m === null) return 'No counts were compared.'
  const tested = p === null ? '' : ` The adjusted p-value is ${Number(p.toPrecision(3))}.`
  return `${groupedDigits(n)} shots sealed, ${groupedDigits(m)} in this run, ${groupedDigits(outcomes ?? 0)} outcomes.${tested}`
}

function hardwareText(hardware: NonNullable<Check['hardware']>): string {
  const { sealed_calibration_id: before, rerun_calibration_id: now, elapsed_seconds: seconds } = hardware
  const passed = seconds === null ? '' : ` ${durationText(Math.abs(seconds) * 1_000)} lie between the runs.`
  return `Calibration: ${before ?? 'unknown'} when it was sealed, ${now ?? 'unknown'} in this run.${passed}`
}
