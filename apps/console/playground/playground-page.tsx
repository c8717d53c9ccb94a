// The playground: a program, its circuit beside it, and a run at once, in this browser or on the server.
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useMemo, useRef, useState } from 'react'
import { metaQuery, sessionQuery } from '../api/queries.js'
import type { Circuit, Fault, Position } from '../circuit/circuit.js'
import { Notice } from '../components/notice.js'
import { CircuitDrawing } from '../drawing/circuit-drawing.js'
import { readCircuit } from '../openqasm/read-circuit.js'
import { usePageTitle } from '../shell/page-title.js'
import { useTeam } from '../shell/team.js'
import { useDraft } from './draft.js'
import { Outcome } from './outcome/outcome.js'
import styles from './playground.module.css'
import { Editor } from './program/editor.js'
import type { EditorHandle } from './program/editor-props.js'
import { Faults } from './program/faults.js'
import { frameworkOf, isPython } from './program/language.js'
import { useReading } from './program/use-reading.js'
import { Actions } from './run/actions.js'
import { beforeRun } from './run/before-run.js'
import { runInBrowser } from './run/browser-run.js'
import { defaultPlace, placeOf } from './run/places.js'
import { convert, runOnServer } from './run/server-run.js'
import { Settings } from './run/settings.js'
import { fieldFaultOf, useRun } from './run/use-run.js'

export function PlaygroundPage() {
  usePageTitle('Playground')
  const { data: session } = useQuery(sessionQuery)
  const { data: meta } = useQuery(metaQuery)
  const { team } = useTeam()
  const { draft, change } = useDraft()
  const { program, language, shots, seed } = draft
  const { state, start, cancel } = useRun()
  const [line, setLine] = useState<number | null>(null)
  const [pointed, setPointed] = useState<Position | null>(null)
  const [converted, setConverted] = useState<{ from: string; circuit: Circuit } | null>(null)
  const editor = useRef<EditorHandle>(null)
  const faultsId = useId()

  const place = placeOf(draft.place)
  const isHere = place.kind === 'browser'
  const simulator = isHere ? place.simulator : defaultPlace
  const limits = meta?.features.browser_simulator
  const python = isPython(program, language)
  const reading = useReading(program, !python)
  const circuit = reading && 'circuit' in reading.result ? reading.result.circuit : null
  const faults: readonly Fault[] = reading && 'faults' in reading.result ? reading.result.faults : []
  const before = useMemo(
    () => (circuit && limits && isHere ? beforeRun(circuit, simulator, Number(shots), limits) : null),
    [circuit, limits, isHere, simulator, shots]
  )
  const framework = frameworkOf(program, language, meta?.features.frameworks ?? [])
  const reportTo = team ? { team_id: team.id } : null

  const fault = useMemo(() => fieldFaultOf(state), [state])
  const goTo = (to: Position) => editor.current?.goTo(to)
  const runHere = () => {
    // The text of this moment: what was typed last may not have been read yet.
    const read = readCircuit(program)
    if ('faults' in read) return goTo(read.faults[0]!)
    const run = { circuit: read.circuit, program, converted: null, simulator, shots, seed }
    start((signal, onProgress) => runInBrowser(run, reportTo, signal, onProgress))
  }
  const convertAndRun = (from: string) =>
    start(async (signal, onProgress) => {
      const { qasm, warnings } = await convert(program, from, signal)
      const read = readCircuit(qasm)
      if ('faults' in read) throw new Error(`The converted circuit cannot run here: ${read.faults[0]!.message}`)
      setConverted({ from: program, circuit: read.circuit })
      const run = {
        circuit: read.circuit,
        program: qasm,
        converted: { framework: from, warnings },
        simulator,
        shots,
        seed
      }
      return runInBrowser(run, reportTo, signal, onProgress)
    })
  const runAt = (backend: string) => start((signal) => runOnServer({ program, language, backend, shots }, signal))

  const run = place.kind === 'server' ? () => runAt(place.backend) : python ? null : runHere
  const refusal = before?.kind === 'refused' ? before.message : null
  const pressKey = (event: KeyboardEvent) => {
    // A dialog of the page is not a part of it.
    const isOnPage = event.currentTarget.contains(event.target as Node)
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !isOnPage) return
    event.preventDefault()
    if (run && refusal === null) run()
  }
  return (
    // The keys of the whole page; what can be pressed has its own.
    <div className={styles.page} onKeyDownCapture={pressKey} role="presentation">
      <h1>Playground</h1>
      <div className={styles.columns}>
        <div className={styles.program}>
          <Editor
            ref={editor}
            value={program}
            onChange={(text) => change({ program: text })}
            onLine={setLine}
            faults={faults}
            pointedLine={pointed?.line ?? null}
            isPython={python}
            describedBy={faultsId}
          />
          <Faults id={faultsId} faults={faults} goTo={goTo} isForServer={!isHere} />
        </div>
        <section className={styles.circuit} aria-label="Circuit">
          {circuit ? (
            <CircuitDrawing circuit={circuit} selectedLine={line} onPoint={setPointed} onChoose={goTo} />
          ) : python && converted?.from === program ? (
            // Its lines are those of another text.
            <CircuitDrawing circuit={converted.circuit} selectedLine={null} />
          ) : (
            <p>
              {python ? 'The circuit of a Python program appears when it is converted.' : 'The circuit appears here.'}
            </p>
          )}
        </section>
      </div>
      <Settings draft={draft} change={change} isVisitor={!session} isOnServer={!isHere} fault={fault} />
      {before && before.kind !== 'free' ? <Notice tone="warn">{before.message}</Notice> : null}
      <Actions
        draft={draft}
        run={run}
        refusal={refusal}
        runAt={runAt}
        convertAndRun={framework === null ? null : () => convertAndRun(framework)}
        isPythonHere={python && isHere}
        hasFaults={isHere && faults.length > 0}
        isVisitor={!session}
        onLink={(link) => change({ link })}
      />
      {fault ? null : <Outcome state={state} cancel={cancel} isVisitor={!session} />}
    </div>
  )
}
