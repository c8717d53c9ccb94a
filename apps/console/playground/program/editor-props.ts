// What the page needs of an editor, so that a plain field can stand in for the real one until that is loaded.
import type { Ref } from 'react'
import type { Fault, Position } from '../../circuit/circuit.js'

/** What the page asks of an editor that is on it. */
export interface EditorHandle {
  /** Puts the cursor there, and the focus into the editor. */
  goTo(position: Position): void
}

/** From where to where in the text; the same place for a cursor. */
export interface Selected {
  anchor: number
  head: number
}

export interface EditorProps {
  ref: Ref<EditorHandle>
  value: string
  onChange: (value: string) => void
  /** The cursor has come to a line. */
  onLine: (line: number) => void
  faults: readonly Fault[]
  /** The line of the gate that is pointed at in the drawing. */
  pointedLine: number | null
  isPython: boolean
  /** Of the element that describes the field. */
  describedBy: string
}
