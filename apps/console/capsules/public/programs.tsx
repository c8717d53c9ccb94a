// The programs of a published capsule, each with its circuit where it is OpenQASM.
import { lazy, Suspense, useState } from 'react'
import { Loading } from '../../components/notice.js'
import { TextBlock } from '../../components/text-block.js'
import { laidOut } from '../../jobs/record/job-record.js'
import own from '../capsules.module.css'
import type { CapsuleTask } from '../record/capsule-record.js'

/** A longer text is read on the page's thread for too long. */
const DRAWN_CHARACTERS_MAX = 64 * 1024

const CanonicalCircuit = lazy(() => import('../../jobs/panels/canonical-circuit.js'))

export const Programs = ({ tasks }: { tasks: readonly CapsuleTask[] }) => (
  <>
    {tasks.map((task) => (
      <section key={task.name} aria-label={`Task ${task.name}`}>
        <h3 className={own.text}>{task.name}</h3>
        <p>
          On {task.backend}, framework {task.framework}.
        </p>
        <Program task={task} />
        <TextBlock label={`Parameters of ${task.name}`} text={laidOut(task.parameters)} />
      </section>
    ))}
  </>
)

function Program({ task }: { task: CapsuleTask }) {
  // The reader of OpenQASM is as large as the rest of the page, so it comes with the circuit that is looked at.
  const [open, setOpen] = useState(false)
  const text = task.circuit?.payload ?? task.inline_code
  if (text === undefined) return <p>The text of the program is in the package.</p>
  const isQasm = /^\s*(?:\/\/[^\n]*\n\s*)*OPENQASM\b/.test(text.slice(0, 10_000))
  if (!isQasm || text.length > DRAWN_CHARACTERS_MAX) return <TextBlock label={`Program of ${task.name}`} text={text} />
  return (
    <>
      <TextBlock label={`Program of ${task.name}`} text={text} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Its circuit</summary>
        {open ? (
          <Suspense fallback={<Loading />}>
            <CanonicalCircuit text={text} />
          </Suspense>
        ) : null}
      </details>
    </>
  )
}
