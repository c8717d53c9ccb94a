// Loaded with the first circuit that is drawn: the reader of OpenQASM is as large as the rest of the page.
import { useMemo, useState } from 'react'
import { TextBlock } from '../../components/text-block.js'
import { CircuitDrawing } from '../../drawing/circuit-drawing.js'
import { readCircuit } from '../../openqasm/read-circuit.js'

export default function CanonicalCircuit({ text }: { text: string }) {
  const reading = useMemo(() => readCircuit(text), [text])
  const [line, setLine] = useState<number | null>(null)
  return (
    <>
      {'faults' in reading ? (
        reading.faults.map(({ message, line: at }) => (
          <p key={`${at} ${message}`}>
            The circuit cannot be drawn here. Line {at}: {message}
          </p>
        ))
      ) : (
        <CircuitDrawing circuit={reading.circuit} selectedLine={line} onChoose={(position) => setLine(position.line)} />
      )}
      <TextBlock label="Circuit" text={text} />
    </>
  )
}
