// The fields of a script: its name, its source in the editor of the playground, and what is wrong with them.
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { Fault, Position } from '../../circuit/circuit.js'
import { Button } from '../../components/button.js'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Editor } from '../../playground/program/editor.js'
import type { EditorHandle } from '../../playground/program/editor-props.js'
import { Faults } from '../../playground/program/faults.js'
import { isPython } from '../../playground/program/language.js'
import { shownText } from '../../text/shown-text.js'
import styles from '../scripts.module.css'
import type { PlacedFaults, ScriptForm } from './script-form.js'

export function SourceFields(props: {
  /** What the form sends. */
  operation: 'uploadScript' | 'updateScript'
  form: ScriptForm
  onChange: (changes: Partial<ScriptForm>) => void
  faults: PlacedFaults
  warnings: readonly Fault[]
  /** What only a new script has, or only one that exists. */
  children: ReactNode
}) {
  const { operation, form, onChange, faults, warnings, children } = props
  const editor = useRef<EditorHandle>(null)
  const faultsId = useId()
  const [pointed, setPointed] = useState<number | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the line belongs to the last warnings
  useEffect(() => setPointed(null), [warnings])
  const goTo = (to: Position) => editor.current?.goTo(to)
  return (
    <>
      <LimitedField
        label="Name"
        limits={limitsOf(operation, 'name')}
        value={form.name}
        onChange={(name) => onChange({ name })}
        fault={faults.at.name ?? null}
        isRequired
      />
      <LimitedField
        label="Description (optional)"
        limits={limitsOf(operation, 'description')}
        rows={2}
        value={form.description}
        onChange={(description) => onChange({ description })}
        fault={faults.at.description ?? null}
      />
      <Editor
        ref={editor}
        value={form.source}
        onChange={(source) => onChange({ source })}
        onLine={() => {}}
        faults={faults.source}
        pointedLine={pointed}
        isPython={isPython(form.source, 'auto')}
        describedBy={faultsId}
      />
      <Faults id={faultsId} faults={faults.source} goTo={goTo} isForServer={false} />
      {warnings.length > 0 ? (
        <ul className={styles.checks} aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={`${warning.line} ${warning.message}`}>
              <Button
                onPress={() => {
                  setPointed(warning.line)
                  goTo(warning)
                }}
              >
                Line {warning.line}
              </Button>{' '}
              {shownText(warning.message)}
            </li>
          ))}
        </ul>
      ) : null}
      <LimitedField
        label="Requirements (optional)"
        limits={limitsOf(operation, 'requirements')}
        help="As in a requirements.txt: compared with what is installed, never fetched"
        rows={3}
        value={form.requirements}
        onChange={(requirements) => onChange({ requirements })}
        fault={faults.at.requirements ?? null}
      />
      {children}
    </>
  )
}
