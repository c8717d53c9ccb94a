import { Notice } from '../../components/notice.js'
import { shownText } from '../../text/shown-text.js'
import type { ScriptWarning } from '../script-queries.js'
import { otherWarnings } from './script-form.js'

/** The warnings of the last save that belong to no line of the source. */
export function Warnings({ warnings }: { warnings: readonly ScriptWarning[] }) {
  const others = otherWarnings(warnings)
  if (others.length === 0) return null
  return (
    <Notice tone="warn">
      {others.map((message) => (
        <p key={message}>{shownText(message)}</p>
      ))}
    </Notice>
  )
}
