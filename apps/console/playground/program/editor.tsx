import { type ComponentType, useEffect, useState } from 'react'
import type { EditorProps } from './editor-props.js'
import { PlainEditor } from './plain-editor.js'

interface Loaded {
  CodeEditor: ComponentType<EditorProps & { cursor: number | null }>
  cursor: number | null
}

/** A plain field until the editor is loaded; it stays where that fails. */
export function Editor(props: EditorProps) {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  useEffect(() => {
    import('./code-editor.js').then(
      ({ CodeEditor }) => setLoaded({ CodeEditor, cursor: cursorOf(document.activeElement) }),
      () => {}
    )
  }, [])
  return loaded ? <loaded.CodeEditor {...props} cursor={loaded.cursor} /> : <PlainEditor {...props} />
}

const cursorOf = (focused: Element | null): number | null =>
  focused instanceof HTMLTextAreaElement && focused.closest('main') ? focused.selectionStart : null
