import { useMemo } from 'react'
import type { components } from '../../api/schema.js'
import { HistogramView } from '../../charts/histogram/histogram-view.js'
import { Notice } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { comparedCounts } from './compared-counts.js'
import { boundText, neededText, rateText, verdictTone } from './verdict-text.js'

type JobComparison = components['schemas']['JobComparison']
type Circuit = components['schemas']['ComparedCircuit']
interface Names {
  a: string
  b: string
}

export function Comparison({ comparison, names }: { comparison: JobComparison; names: Names }) {
  const { verdict, reason, statement, circuits, circuits_left_out } = comparison
  const needed = neededText(comparison)
  return (
    <>
      <section aria-label="Verdict">
        <Notice tone={verdictTone(verdict)}>
          <strong>{verdict.replaceAll('_', ' ')}</strong>: {reason}
        </Notice>
        <p>{statement}</p>
        <p>
          {rateText(comparison)} {boundText(comparison)}
        </p>
        {needed === null ? null : <p>{needed}</p>}
      </section>
      <Jobs comparison={comparison} names={names} />
      {circuits.map((circuit) => (
        <ComparedCircuit key={circuit.name} circuit={circuit} jobs={comparison} names={names} />
      ))}
      {circuits_left_out > 0 ? <p>{groupedDigits(circuits_left_out)} more circuits are not shown.</p> : null}
    </>
  )
}

const Jobs = ({ comparison: { a, b }, names }: { comparison: JobComparison; names: Names }) => (
  <Table label="The two jobs" heads={['Job', 'Backend', 'Seed', 'Engine', 'Calibration', 'Counts by']}>
    {[
      { name: names.a, job: a, side: 'a' },
      { name: names.b, job: b, side: 'b' }
    ].map(({ name, job, side }) => (
      <tr key={side}>
        <Wide>{name}</Wide>
        <td>{job.backend}</td>
        <td>{job.seed ?? '–'}</td>
        <td>{job.engine === null ? '–' : `${job.engine} ${job.engine_version ?? ''}`}</td>
        <td>{job.calibration_id ?? '–'}</td>
        <td>{job.count_source ?? 'the program'}</td>
      </tr>
    ))}
  </Table>
)

function ComparedCircuit({ circuit, jobs, names }: { circuit: Circuit; jobs: JobComparison; names: Names }) {
  const data = useMemo(() => comparedCounts(circuit, jobs, names), [circuit, jobs, names])
  const needed = neededText(circuit)
  return (
    <section aria-label={circuit.name}>
      <h2>{circuit.name}</h2>
      <p>
        <strong>{circuit.verdict.replaceAll('_', ' ')}</strong>: {circuit.reason}
        {needed === null ? '' : ` ${needed}`}
      </p>
      {circuit.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {data ? <HistogramView title={`Counts of both jobs: ${circuit.name}`} data={data} /> : null}
    </section>
  )
}
