// The parts of a job that are read when their tab is opened.
import { useQuery } from '@tanstack/react-query'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { duration, Time } from '../../components/text.js'
import { TextBlock } from '../../components/text-block.js'
import { artifactsQuery, attemptsQuery, sourceQuery } from '../record/job-queries.js'
import { laidOut, SHOWN_BYTES } from '../record/job-record.js'

export function Attempts({ id }: { id: string }) {
  const { data, error } = useQuery(attemptsQuery(id))
  if (!data) return error ? <Refusal error={error} /> : <Loading />
  if (data.length === 0) return <p>No attempt has begun.</p>
  return (
    <Table label="Attempts" heads={['Task', 'Number', 'State', 'Started', 'Took', 'Then waited', 'Fault']}>
      {data.map((attempt) => (
        <tr key={`${attempt.task} ${attempt.number}`}>
          <td>{attempt.task}</td>
          <td>{attempt.number}</td>
          <td>{attempt.state}</td>
          <td>
            <Time at={attempt.started_at} />
          </td>
          <td>{attempt.ended_at ? duration(attempt.started_at, attempt.ended_at) : '–'}</td>
          <td>{attempt.backoff_ms === null ? '–' : `${attempt.backoff_ms} ms`}</td>
          <Wide>{attempt.error?.message ?? ''}</Wide>
        </tr>
      ))}
    </Table>
  )
}

export function Source({ id, params }: { id: string; params: string }) {
  const { data, error } = useQuery(sourceQuery(id))
  return (
    <>
      <h2>Program</h2>
      {data === undefined ? error ? <Refusal error={error} /> : <Loading /> : <TextBlock label="Program" text={data} />}
      <h2>Parameters</h2>
      <TextBlock
        label="Parameters"
        text={params.length > SHOWN_BYTES ? params.slice(0, SHOWN_BYTES) : laidOut(params)}
      />
      {params.length > SHOWN_BYTES ? (
        <p>This is the beginning. The download of the record has all parameters.</p>
      ) : null}
    </>
  )
}

export function Artifacts({ id }: { id: string }) {
  const { data, error } = useQuery(artifactsQuery(id))
  if (!data) return error ? <Refusal error={error} /> : <Loading />
  if (data.length === 0) return <p>The job has no files.</p>
  return (
    <Table label="Files" heads={['Name', 'Size', 'Type', 'SHA-256']}>
      {data.map(({ name, url, size_bytes, media_type, sha256 }) => (
        <tr key={name}>
          <Wide>
            <a href={url} download={name}>
              {name}
            </a>
          </Wide>
          <td>{size_bytes} bytes</td>
          <td>{media_type}</td>
          <Wide>
            <code>{sha256}</code>
          </Wide>
        </tr>
      ))}
    </Table>
  )
}
