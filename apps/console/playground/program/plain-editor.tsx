import { useImperativeHandle, useRef } from 'react'
import controls from '../../components/controls.module.css'
import styles from '../playground.module.css'
import type { EditorProps } from './editor-props.js'

const ROWS = 18

export function PlainEditor({ ref, value, onChange, onLine, faults, describedBy }: EditorProps) {
  const place = useRef<HTMLTextAreaElement>(null)
  useImperativeHandle(ref, () => ({
    goTo({ line, column }) {
      const before = place.current!.value.split('\n').slice(0, line - 1)
      const at = before.reduce((sum, { length }) => sum + length + 1, column - 1)
      place.current!.focus()
      place.current!.setSelectionRange(at, at)
    }
  }))
  return (
    <textarea
      ref={place}
      className={`${controls.input} ${controls.code} ${styles.editor}`}
      aria-label="Program"
      aria-invalid={faults.length > 0}
      aria-describedby={describedBy}
      rows={ROWS}
      spellCheck={false}
      autoCapitalize="off"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onSelect={({ currentTarget: { value: text, selectionStart } }) =>
        onLine(text.slice(0, selectionStart).split('\n').length)
      }
    />
  )
}
