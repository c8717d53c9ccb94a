import type { Fault, Position } from '../../circuit/circuit.js'
import { Button } from '../../components/button.js'
import { shownText } from '../../text/shown-text.js'
import styles from '../playground.module.css'

/** What is wrong with the program, announced as it is typed; a press leads there. */
export function Faults(props: {
  id: string
  faults: readonly Fault[]
  goTo: (to: Position) => void
  isForServer: boolean
}) {
  const { id, faults, goTo, isForServer } = props
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
      {isForServer && faults.length > 0 ? (
        <p>The server reads the program itself, and can take it all the same.</p>
      ) : null}
    </div>
  )
}
