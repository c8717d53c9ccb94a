import { useMemo } from 'react'
import { HistogramView } from '../../charts/histogram/histogram-view.js'
import type { Reading, ResultCounts } from '../../results/counts.js'

export function CountsPicture({ reading, name }: { reading: Reading<ResultCounts>; name: string }) {
  const data = useMemo(() => {
    if (reading.kind === 'refused') return null
    const { counts, order, registers } = reading.value
    return { order, registers, sets: [{ name, counts }] }
  }, [reading, name])
  if (reading.kind === 'refused') return <p>{reading.reason}</p>
  return data && <HistogramView title="Counts" data={data} note={reading.value.note} />
}
