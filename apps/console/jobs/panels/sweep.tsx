// The points of a sweep: their values against a parameter, a table of all, and the counts of a chosen one.
import { useMemo, useState } from 'react'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { SweepPlot } from '../../charts/sweep/sweep-plot.js'
import { Choice } from '../../components/fields.js'
import { Table, Wide } from '../../components/table.js'
import { readResultCounts } from '../../results/counts.js'
import { observedText } from '../../results/observables.js'
import { type Point, readPoints } from '../../results/points.js'
import { type SweepResult, sweepData } from '../../results/sweep.js'
import { numbered } from '../../text/exact-numbers.js'

const NUMBER_OF_POINT = ''

export function Sweep({ text, sweep }: { text: string; sweep: SweepResult }) {
  const points = useMemo(() => readPoints(text), [text])
  const [parameter, setParameter] = useState(sweep.parameters[0] ?? NUMBER_OF_POINT)
  const data = useMemo(() => sweepData(sweep, parameter === NUMBER_OF_POINT ? null : parameter), [sweep, parameter])
  const axes = [
    ...sweep.parameters.map((value) => ({ value, text: value })),
    { value: NUMBER_OF_POINT, text: 'number of the point' }
  ]
  return (
    <>
      <p>
        {numbered(points.length, 'point')}
        {sweep.failed > 0 ? `, ${sweep.failed} without a result` : ''}.
      </p>
      {data.series.length > 0 ? (
        <>
          <Choice label="Against" value={parameter} options={axes} onChange={setParameter} />
          <SweepPlot data={data} title="Values of the sweep" />
        </>
      ) : null}
      <PointTable points={points} />
      <CountsOfPoint points={points} />
    </>
  )
}

const PointTable = ({ points }: { points: readonly Point[] }) => (
  <Table label="Points" heads={['Point', 'Parameters', 'Value ± standard error', 'Fault']}>
    {points.map(({ index, params, observables, value, error }) => (
      <tr key={index}>
        <td>{index}</td>
        <Wide>{params}</Wide>
        <Wide>
          {observables.length > 0
            ? observables.map((one) => `${one.name}: ${observedText(one)}`).join('; ')
            : (value ?? '–')}
        </Wide>
        <Wide>{error ?? ''}</Wide>
      </tr>
    ))}
  </Table>
)

function CountsOfPoint({ points }: { points: readonly Point[] }) {
  const [chosen, setChosen] = useState(points[0]?.index ?? 0)
  const point = points.find(({ index }) => index === chosen)
  const counts = useMemo(() => (point ? readResultCounts(point.text) : null), [point])
  if (points.every(({ text }) => !text.includes('"counts"'))) return null
  const options = points.map(({ index, params }) => ({
    value: String(index),
    text: `${index}: ${params.slice(0, 60)}`
  }))
  return (
    <>
      <Choice
        label="Counts of point"
        value={String(chosen)}
        options={options}
        onChange={(value) => setChosen(Number(value))}
      />
      {counts ? <CountsPicture reading={counts} name={`point ${chosen}`} /> : <p>This point has no counts.</p>}
    </>
  )
}
