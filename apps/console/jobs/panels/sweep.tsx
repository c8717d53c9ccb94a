// The points of a sweep: their values against a parameter, a table of all, and the counts of a chosen one.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { SweepPlot } from '../../charts/sweep/sweep-plot.js'
import { Button } from '../../components/button.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import type { SweepClient } from '../../results/sweep-messages.js'
import type { PointRow, SweepOverview } from '../../results/sweep-reader.js'
import { groupedDigits, numbered } from '../../text/exact-numbers.js'
import { clipped } from '../../text/shown-text.js'
import { ComparePoints } from './compare-points.js'
import { ProvenanceFacts } from './provenance.js'
import { useSweep } from './use-sweep.js'

const NUMBER_OF_POINT = ''
const NAME_CELLS_MAX = 60
/** Rows of the table at a time: a thousand of them would stop the page. */
const ROWS = 50

/** @param text the result, where the page has it whole; a larger one is read by the worker alone. */
export function Sweep({ id, text }: { id: string; text: string | null }) {
  const sweep = useSweep(id, text)
  if (sweep.state === 'opening') return <Loading />
  if (sweep.state === 'failed') return <Refusal error={sweep.error} />
  const { client, overview } = sweep
  return overview.kind === 'refused' ? (
    <p>{overview.reason}</p>
  ) : (
    <OpenSweep id={id} client={client} overview={overview.value} />
  )
}

interface Open {
  id: string
  client: SweepClient
  overview: SweepOverview
}

/** What the worker answered: a result never changes. */
const kept = { staleTime: Number.POSITIVE_INFINITY, placeholderData: keepPreviousData, retry: false } as const

function OpenSweep({ id, client, overview }: Open) {
  const { points, failed } = overview
  const [from, setFrom] = useState(0)
  const to = Math.min(from + ROWS, points)
  const rows = useQuery({ ...kept, queryKey: ['sweep', id, 'rows', from], queryFn: () => client.rows(from, to) })
  return (
    <>
      <p>
        {numbered(points, 'point')}
        {failed > 0 ? `, ${groupedDigits(failed)} without a result` : ''}.
      </p>
      <Plot id={id} client={client} overview={overview} />
      {overview.provenance.length > 0 ? (
        <section aria-label="What all points have alike">
          <h2>What all points have alike</h2>
          <ProvenanceFacts facts={overview.provenance} />
        </section>
      ) : null}
      {rows.data ? <PointTable points={rows.data} /> : rows.error ? <Refusal error={rows.error} /> : <Loading />}
      {points > ROWS ? (
        <div className={layout.bar}>
          <Button isDisabled={from === 0} onPress={() => setFrom(Math.max(0, from - ROWS))}>
            Points before
          </Button>
          <span>
            {from} to {to - 1} of {groupedDigits(points)}
          </span>
          <Button isDisabled={to === points} onPress={() => setFrom(from + ROWS)}>
            Points after
          </Button>
        </div>
      ) : null}
      {overview.hasCounts && rows.data ? <CountsOfPoint id={id} client={client} shown={rows.data} /> : null}
      {overview.hasCounts ? <ComparePoints id={id} points={points} /> : null}
    </>
  )
}

function Plot({ id, client, overview: { parameters } }: Open) {
  // By its place: a parameter can have any name, and none at all.
  const [place, setPlace] = useState(parameters.length > 0 ? '0' : NUMBER_OF_POINT)
  const parameter = place === NUMBER_OF_POINT ? null : parameters[Number(place)]!
  const plot = useQuery({
    ...kept,
    queryKey: ['sweep', id, 'plot', place],
    queryFn: () => client.plot(parameter)
  })
  const axes = [
    ...parameters.map((name, at) => ({ value: String(at), text: clipped(name, NAME_CELLS_MAX) || '(no name)' })),
    { value: NUMBER_OF_POINT, text: 'number of the point' }
  ]
  if (plot.error) return <Refusal error={plot.error} />
  if (!plot.data || plot.data.series.length === 0) return null
  return (
    <>
      <Choice label="Against" value={place} options={axes} onChange={setPlace} />
      <SweepPlot data={plot.data} title="Values of the sweep" />
    </>
  )
}

const PointTable = ({ points }: { points: readonly PointRow[] }) => (
  <Table label="Points" heads={['Point', 'Parameters', 'Value ± standard error', 'Fault']}>
    {points.map(({ index, params, values, error }) => (
      <tr key={index}>
        <td>{index}</td>
        <Wide>{params}</Wide>
        <Wide>{values}</Wide>
        <Wide>{error}</Wide>
      </tr>
    ))}
  </Table>
)

/** Of one of the points in the table. */
function CountsOfPoint({ id, client, shown }: { id: string; client: SweepClient; shown: readonly PointRow[] }) {
  const [wished, setWished] = useState<number | null>(null)
  const point = shown.find(({ index }) => index === wished) ?? shown[0]
  const chosen = point?.index ?? 0
  const counts = useQuery({ ...kept, queryKey: ['sweep', id, 'counts', chosen], queryFn: () => client.counts(chosen) })
  const provenance = useQuery({
    ...kept,
    queryKey: ['sweep', id, 'provenance', chosen],
    queryFn: () => client.provenance(chosen)
  })
  const options = shown.map(({ index, params }) => ({
    value: String(index),
    text: `${index}: ${clipped(params, NAME_CELLS_MAX)}`
  }))
  return (
    <>
      <Choice
        label="Counts of point"
        value={String(chosen)}
        options={options}
        onChange={(value) => setWished(Number(value))}
      />
      {counts.data ? (
        <CountsPicture reading={counts.data} name={`point ${chosen}`} />
      ) : counts.error ? (
        <Refusal error={counts.error} />
      ) : counts.isSuccess ? (
        <p>This point has no counts.</p>
      ) : null}
      {provenance.data && provenance.data.length > 0 ? <ProvenanceFacts facts={provenance.data} /> : null}
    </>
  )
}
