import { TextBlock } from '../../components/text-block.js'
import { laidOut } from '../../jobs/record/job-record.js'
import own from '../capsules.module.css'
import type { CapsuleTask, ReadCapsule } from '../record/capsule-record.js'

export function Definition({ capsule: { record, tasks } }: { capsule: ReadCapsule }) {
  return (
    <>
      <p>
        Digest of the definition: <span className={own.digest}>{record.definition_sha256}</span>
      </p>
      {tasks.length === 0 ? <p>This capsule has no tasks yet, so there is nothing to run.</p> : null}
      <TaskList tasks={tasks} />
    </>
  )
}

/** Programs and parameters, byte for byte. */
export const TaskList = ({ tasks }: { tasks: readonly CapsuleTask[] }) => (
  <>
    {tasks.map((task) => (
      <section key={task.name} aria-label={`Task ${task.name}`}>
        <h2 className={own.text}>{task.name}</h2>
        <p>
          On {task.backend}, framework {task.framework}, mode {task.execution_mode}, at most {task.timeout_seconds} s
          {task.script_id === null ? '' : `; version ${task.script_version} of a saved script`}.
        </p>
        <Program task={task} />
        <TextBlock label={`Parameters of ${task.name}`} text={laidOut(task.parameters)} />
      </section>
    ))}
  </>
)

function Program({ task }: { task: CapsuleTask }) {
  const text = task.circuit?.payload ?? task.inline_code
  if (text === undefined) return <p>The text of the script is in the export of this capsule.</p>
  return <TextBlock label={`Program of ${task.name}`} text={text} />
}
