import { type ComponentType, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import type { EditorProps, Selected } from './editor-props.js'
import { PlainEditor } from './plain-editor.js'

interface Loaded {
  CodeEditor: ComponentType<EditorProps & { selected: Selected | null }>
  selected: Selected | null
}

/** A plain field until the editor is loaded; it stays where that fails. */
export function Editor(props: EditorProps) {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  useEffect(() => {
    import('./code-editor.js').then(
      // At once: what is selected or typed before the field is replaced would be lost.
      ({ CodeEditor }) => flushSync(() => setLoaded({ CodeEditor, selected: selectedIn(document.activeElement) })),
      () => {}
    )
  }, [])
  return loaded ? <loaded.CodeEditor {...props} selected={loaded.selected} /> : <PlainEditor {...props} />
}

const selectedIn = (focused: Element | null): Selected | null =>
  focused instanceof HTMLTextAreaElement && focused.closest('main')
    ? { anchor: focused.selectionStart, head: focused.selectionEnd }
    : null
