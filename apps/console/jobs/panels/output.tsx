import { Fragment } from 'react'
import { TextBlock } from '../../components/text-block.js'
import type { JobEvent, OutputEvent } from '../record/job-event.js'

/** What the program prints, as it prints it: one block for each attempt of each task. */
export function Output({ events }: { events: readonly JobEvent[] }) {
  const blocks = new Map<string, string>()
  let removed = false
  for (const event of events) {
    if (event.type !== 'output') continue
    if (event.removed) {
      removed = true
      continue
    }
    const name = nameOf(event)
    const cut = event.truncated_bytes ? `\n(${event.truncated_bytes} bytes are left out here)\n` : ''
    blocks.set(name, (blocks.get(name) ?? '') + event.text + cut)
  }
  if (removed) return <p>The output of this job was removed, since the team keeps it for a limited time.</p>
  if (blocks.size === 0) return <p>Nothing has been printed.</p>
  return [...blocks].map(([name, text]) => (
    <Fragment key={name}>
      {blocks.size > 1 ? <h2>{name}</h2> : null}
      <TextBlock label={name} text={text} />
    </Fragment>
  ))
}

const nameOf = ({ task, attempt }: OutputEvent): string => `${task ? `Task ${task}, ` : ''}Attempt ${attempt}`
