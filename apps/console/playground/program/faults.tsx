import type { Fault, Position } from '../../circuit/circuit.js'
import { Button } from '../../components/button.js'
import { shownText } from '../../text/shown-text.js'
import styles from '../playground.module.css'

/** What is wrong with the program, announced as it is typed; a press leads there. */
export function Faults({ id, faults, goTo }: { id: string; faults: readonly Fault[]; goTo: (to: Position) => void }) {
  return (
    <div id={id} role="status" className={styles.faults}>
      {faults.map((fault) => (
        <p key={`${fault.line} ${fault.column} ${fault.message}`}>
          <Button onPress={() => goTo(fault)}>
            Line {fault.line}, column {fault.column}
          </Button>{' '}
          {shownText(fault.message)}
        </p>
      ))}
    </div>
  )
}
