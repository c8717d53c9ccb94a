// Where a result comes from: what was submitted, and what the service, or the program, says of how it ran.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Fact, Facts } from '../../components/facts.js'
import { type ProvenanceFact, readProvenance } from '../../results/provenance.js'
import { shownText } from '../../text/shown-text.js'
import { resultQuery } from '../record/job-queries.js'
import type { JobRecord } from '../record/job-record.js'

/** Of a result that the page has whole; that of a sweep stands with its points. */
export function Provenance({ id, job }: { id: string; job: JobRecord }) {
  const bytes = job.result_bytes ?? null
  const { data } = useQuery({ ...resultQuery(id, bytes ?? 0), enabled: bytes !== null && !job.removed?.results })
  const text = data?.whole && !job.progress ? data.text : null
  const facts = useMemo(() => (text === null ? [] : readProvenance(text)), [text])
  return (
    <section aria-label="Provenance">
      <h2>Provenance</h2>
      <Facts>
        <Fact name="SHA-256 of the source">
          <code>{job.source.sha256}</code>
        </Fact>
        <Named facts={facts} />
      </Facts>
      {data && !data.whole && !job.progress ? <p>The metadata of a result of this size is in its download.</p> : null}
    </section>
  )
}

export const ProvenanceFacts = ({ facts }: { facts: readonly ProvenanceFact[] }) => (
  <Facts>
    <Named facts={facts} />
  </Facts>
)

const Named = ({ facts }: { facts: readonly ProvenanceFact[] }) =>
  facts.map(({ name, value, isCode }) => (
    <Fact key={name} name={name}>
      {isCode ? <code>{shownText(value)}</code> : shownText(value)}
    </Fact>
  ))
