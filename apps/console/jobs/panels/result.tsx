// What came out: counts, expectation values or the points of a sweep, then the text of the result.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { TextBlock } from '../../components/text-block.js'
import { readResultCounts } from '../../results/counts.js'
import { type Observable, observedText, readObservables } from '../../results/observables.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { resultQuery } from '../record/job-queries.js'
import { laidOut, type ReadJob, type ReadResult, SHOWN_BYTES } from '../record/job-record.js'
import { removedText } from '../record/removed-text.js'
import { Provenance } from './provenance.js'
import { Sweep } from './sweep.js'

export const Result = ({ id, job }: { id: string; job: ReadJob }) => (
  <>
    <Outcome id={id} job={job} />
    <Provenance id={id} job={job.record} />
  </>
)

function Outcome({ id, job: { record } }: { id: string; job: ReadJob }) {
  const bytes = record.result_bytes ?? null
  const result = useQuery({ ...resultQuery(id, bytes ?? 0), enabled: bytes !== null })
  if (record.removed?.results) return <p>{removedText('result', record.removed.results)}</p>
  if (bytes === null)
    return <p>{record.completed_at === null ? 'There is no result yet.' : 'This job ended without a result.'}</p>
  return (
    <>
      {result.data ? (
        <Shown result={result.data} id={id} job={record} />
      ) : result.error ? (
        <Refusal error={result.error} />
      ) : (
        <Loading />
      )}
      <p>
        <a href={`/api/jobs/${id}/result`} download={`result-${id}.json`}>
          Download the result
        </a>{' '}
        ({groupedDigits(bytes)} bytes)
      </p>
    </>
  )
}

function Shown({ result, id, job }: { result: ReadResult; id: string; job: ReadJob['record'] }) {
  const text = useMemo(() => (result.whole ? laidOut(result.text) : result.text), [result])
  return (
    <>
      {/* Points are read in a worker, so a large sweep has its pictures too. */}
      {job.progress ? (
        <Sweep id={id} text={result.whole ? result.text : null} />
      ) : result.whole ? (
        <Pictures text={result.text} name={job.name ?? 'this job'} />
      ) : null}
      {result.whole ? null : (
        <p>
          The result is larger than {SHOWN_BYTES / 1024 ** 2} MiB. This is its beginning; the download has all of it.
        </p>
      )}
      <TextBlock label="Result" text={text} />
    </>
  )
}

function Pictures({ text, name }: { text: string; name: string }) {
  const counts = useMemo(() => readResultCounts(text), [text])
  const observables = useMemo(() => readObservables(text), [text])
  return (
    <>
      {observables.length > 0 ? <Observables observables={observables} /> : null}
      {counts ? <CountsPicture reading={counts} name={name} /> : null}
    </>
  )
}

const Observables = ({ observables }: { observables: readonly Observable[] }) => (
  <Table label="Expectation values" heads={['Observable', 'Value ± standard error', 'Method']}>
    {observables.map((observable, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same observable can be asked for twice
      <tr key={at}>
        <Wide>{observable.name}</Wide>
        <td>{observedText(observable)}</td>
        <td>{observable.method ?? 'not stated'}</td>
      </tr>
    ))}
  </Table>
)
