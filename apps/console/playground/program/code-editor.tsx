// The editor, by CodeMirror. The Tab key leaves it, as it leaves every field.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language'
import { python } from '@codemirror/legacy-modes/mode/python'
import { Compartment, EditorState, StateEffect, StateField, type Text } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react'
import type { Fault, Position } from '../../circuit/circuit.js'
import styles from './code-editor.module.css'
import type { EditorProps, Selected } from './editor-props.js'
import { openqasm } from './openqasm-mode.js'

const languages = { openqasm: StreamLanguage.define(openqasm), python: StreamLanguage.define(python) }

const colours = HighlightStyle.define([
  { tag: tags.comment, class: styles.comment! },
  { tag: [tags.keyword, tags.definitionKeyword, tags.modifier], class: styles.keyword! },
  { tag: [tags.string, tags.number], class: styles.literal! },
  { tag: [tags.atom, tags.meta], class: styles.type! }
])

const setMarks = StateEffect.define<DecorationSet>()
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (known, { changes, effects }) =>
    effects.reduce((set, effect) => (effect.is(setMarks) ? effect.value : set), known.map(changes)),
  provide: (field) => EditorView.decorations.from(field)
})

const faultMark = Decoration.mark({ class: styles.fault! })
const pointedLine = Decoration.line({ class: styles.pointed! })

/** A browser that replaces several lines itself gives them style attributes, which the policy of the page refuses. */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput({ inputType, data, isComposing }, view) {
    const selected = document.getSelection()
    if (inputType !== 'insertText' || data === null || isComposing || !selected || selected.isCollapsed) return false
    const range = selected.getRangeAt(0)
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    view.dispatch({
      changes: { from, to, insert: data },
      selection: { anchor: from + data.length },
      userEvent: 'input.type',
      scrollIntoView: true
    })
    return true
  }
})

/** The policy of the page takes style elements with its nonce alone. */
const nonce = (): string => document.querySelector<HTMLElement>('meta[property=csp-nonce]')?.nonce ?? ''

/** @param selected in the plain field that had the focus; `null` where it had none. */
export function CodeEditor({ selected, ...props }: EditorProps & { selected: Selected | null }) {
  const { ref, value, faults, pointedLine: line, isPython } = props
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const language = useRef(new Compartment())
  const latest = useRef(props)
  latest.current = props
  const start = useRef({ value, selected })

  // Before the browser handles the next key, which would find no field.
  useLayoutEffect(() => {
    const { value: doc, selected: range } = start.current
    const [anchor, head] = [range?.anchor ?? 0, range?.head ?? 0].map((at) => Math.min(at, doc.length)) as [
      number,
      number
    ]
    const own = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc,
        selection: { anchor, head },
        extensions: [
          EditorView.cspNonce.of(nonce()),
          lineNumbers(),
          history(),
          bracketMatching(),
          language.current.of([]),
          syntaxHighlighting(colours),
          marks,
          typeOverSelection,
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of(() => ({
            'aria-label': 'Program',
            'aria-describedby': latest.current.describedBy,
            'aria-invalid': String(latest.current.faults.length > 0),
            autocapitalize: 'off',
            // Browsers let any editable text have the focus; axe does not know.
            tabindex: '0'
          })),
          EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
            if (docChanged) latest.current.onChange(state.doc.toString())
            if (docChanged || selectionSet) latest.current.onLine(state.doc.lineAt(state.selection.main.head).number)
          })
        ]
      })
    })
    view.current = own
    if (range) own.focus()
    return () => own.destroy()
  }, [])

  // Before anything else is typed, which it would take back.
  useLayoutEffect(() => {
    const { state } = view.current!
    // Only what did not come from here: a link that was opened.
    if (state.doc.toString() !== value)
      view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    view.current!.dispatch({
      effects: language.current.reconfigure(isPython ? languages.python : languages.openqasm)
    })
  }, [isPython])
  useEffect(() => {
    view.current!.dispatch({ effects: setMarks.of(marksIn(view.current!.state.doc, faults, line)) })
  }, [faults, line])
  useImperativeHandle(ref, () => ({
    goTo(position) {
      const anchor = offsetOf(view.current!.state.doc, position)
      view.current!.dispatch({ selection: { anchor }, scrollIntoView: true })
      view.current!.focus()
    }
  }))
  return <div ref={place} className={styles.place} />
}

/** The faults were found in an earlier text, perhaps in a longer one. */
function offsetOf(doc: Text, { line, column }: Position): number {
  const { from, to } = doc.line(Math.max(1, Math.min(line, doc.lines)))
  return Math.min(from + column - 1, to)
}

function marksIn(doc: Text, faults: readonly Fault[], line: number | null): DecorationSet {
  const pointed = line !== null && line <= doc.lines ? [pointedLine.range(doc.line(line).from)] : []
  const wrong = faults.flatMap((fault) => {
    const from = offsetOf(doc, fault)
    const word = /^[\p{L}\p{N}_]+/u.exec(doc.sliceString(from, from + 100))?.[0].length ?? 1
    const to = Math.min(from + word, doc.length)
    return to > from ? [faultMark.range(from, to)] : []
  })
  return Decoration.set([...pointed, ...wrong], true)
}
