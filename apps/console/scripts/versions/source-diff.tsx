// What differs between two sources, in one column: removed lines stand above what replaced them.
import { goToNextChunk, goToPreviousChunk, unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { Button } from '../../components/button.js'
import styles from './source-diff.module.css'

/** A megabyte without a common line would take minutes to compare letter by letter. */
const limits = { scanLimit: 1_000, timeout: 500 }

/** The policy of the page takes style elements with its nonce alone. */
const nonce = (): string => document.querySelector<HTMLElement>('meta[property=csp-nonce]')?.nonce ?? ''

export function SourceDiff({ label, before, after }: { label: string; before: string; after: string }) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  useEffect(() => {
    const own = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: after,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          lineNumbers(),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', tabindex: '0' }),
          unifiedMergeView({ original: before, mergeControls: false, diffConfig: limits })
        ]
      })
    })
    view.current = own
    return () => own.destroy()
  }, [label, before, after])
  if (before === after) return <p>The two sources are the same.</p>
  const go = (move: typeof goToNextChunk) => {
    if (view.current) move(view.current)
  }
  return (
    <div className={styles.diff}>
      <div className={styles.bar}>
        <Button onPress={() => go(goToPreviousChunk)}>Previous difference</Button>
        <Button onPress={() => go(goToNextChunk)}>Next difference</Button>
      </div>
      <div ref={place} className={styles.place} />
    </div>
  )
}
