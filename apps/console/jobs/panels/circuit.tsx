// The circuit that ran, drawn from its canonical text, which is OpenQASM 3 whatever it was written in.
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Loading, Refusal } from '../../components/notice.js'
import { loadPart } from '../../shell/load-part.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { artifactsQuery, fileQuery } from '../record/job-queries.js'

const CANONICAL = 'circuit.qasm'
/** A longer text is read on the page's thread for too long. */
const DRAWN_BYTES_MAX = 128 * 1024

const CanonicalCircuit = lazy(() => loadPart(() => import('./canonical-circuit.js')))

export function CircuitPanel({ id, ended }: { id: string; ended: boolean }) {
  const files = useQuery(artifactsQuery(id))
  const file = files.data?.find(({ name }) => name === CANONICAL)
  const isDrawn = file !== undefined && file.size_bytes <= DRAWN_BYTES_MAX
  const text = useQuery({ ...fileQuery(file?.url ?? ''), enabled: isDrawn })
  if (!files.data) return files.error ? <Refusal error={files.error} /> : <Loading />
  if (!file) return <p>{ended ? 'This job has no single circuit.' : 'The circuit is drawn when the job has ended.'}</p>
  const download = (
    <p>
      <a href={file.url} download={CANONICAL}>
        Download the circuit as OpenQASM 3
      </a>{' '}
      ({groupedDigits(file.size_bytes)} bytes)
    </p>
  )
  if (!isDrawn)
    return (
      <>
        <p>The circuit is too long to be drawn here.</p>
        {download}
      </>
    )
  return (
    <>
      {text.data === undefined ? text.error ? <Refusal error={text.error} /> : <Loading /> : null}
      {text.data === undefined ? null : (
        <Suspense fallback={<Loading />}>
          <CanonicalCircuit text={text.data} />
        </Suspense>
      )}
      {download}
    </>
  )
}
