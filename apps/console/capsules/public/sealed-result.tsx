// The sealed counts, drawn from the files of the evidence.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { components } from '../../api/schema.js'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { Loading, Refusal } from '../../components/notice.js'
import { readResultCounts } from '../../results/counts.js'
import { resultTextQuery } from '../verification/report-queries.js'

type File = components['schemas']['CapsuleEvidence']['artifacts'][number]

/** Each takes a request. */
const DRAWN_MAX = 1

export function SealedResult({ path, files }: { path: string; files: readonly File[] }) {
  const results = files.filter(({ name }) => /^tasks\/[^/]+\/result\.json$/.test(name))
  return (
    <>
      {results.slice(0, DRAWN_MAX).map(({ name }) => (
        <Drawn key={name} name={name} url={`${path}/${encodeURIComponent(name)}`} />
      ))}
      {results.length > DRAWN_MAX ? <p>The other results are among the evidence below.</p> : null}
    </>
  )
}

function Drawn({ name, url }: { name: string; url: string }) {
  const text = useQuery(resultTextQuery(url))
  const counts = useMemo(() => (text.data ? readResultCounts(text.data) : null), [text.data])
  if (text.error) return <Refusal error={text.error} />
  if (text.data === undefined) return <Loading />
  if (text.data === null) return <p>The result {name} is too large to be drawn here; the evidence below has it.</p>
  if (!counts) return <p>The result {name} holds no counts to draw; the evidence below has it.</p>
  return <CountsPicture reading={counts} name={name} />
}
