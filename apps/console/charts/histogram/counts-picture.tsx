import { useMemo } from 'react'
import type { Reading, ResultCounts } from '../../results/counts.js'
import { HistogramView } from './histogram-view.js'

/** The counts of one result, or why they cannot be drawn. @param name of the run. */
export function CountsPicture({ reading, name }: { reading: Reading<ResultCounts>; name: string }) {
  const data = useMemo(() => {
    if (reading.kind === 'refused') return null
    const { counts, order, registers } = reading.value
    return { order, registers, sets: [{ name, counts }] }
  }, [reading, name])
  if (reading.kind === 'refused') return <p>{reading.reason}</p>
  return data && <HistogramView title="Counts" data={data} note={reading.value.note} />
}
