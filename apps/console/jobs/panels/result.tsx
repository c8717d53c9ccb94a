import { useMemo } from 'react'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { TextBlock } from '../../components/text-block.js'
import { readResultCounts } from '../../results/counts.js'
import { laidOut, type ReadJob, SHOWN_BYTES } from '../job-record.js'

export function Result({ id, job: { record, result } }: { id: string; job: ReadJob }) {
  const text = useMemo(() => (result ? (result.whole ? laidOut(result.text) : result.text) : ''), [result])
  const counts = useMemo(() => (result?.whole ? readResultCounts(result.text) : null), [result])
  if (result === null)
    return <p>{record.completed_at === null ? 'There is no result yet.' : 'This job ended without a result.'}</p>
  const download = (
    <a href={`/api/jobs/${id}`} download={`job-${id}.json`}>
      Download the record with its result
    </a>
  )
  return (
    <>
      {counts && <CountsPicture reading={counts} name={record.name ?? 'this job'} />}
      <p>{download}</p>
      {result.whole ? null : (
        <p>
          The result is larger than {SHOWN_BYTES / 1024 ** 2} MiB. This is its beginning; the download has all of it.
        </p>
      )}
      <TextBlock label="Result" text={text} />
    </>
  )
}
