// The workers of the simulators, as files of their own: a worker obeys the content policy of its file, not that of the page.
import wasm from 'qulacs-wasm-simulator-client/lib/wasm/module.wasm?url'
import type { CompiledCode } from './protocol.js'
import type { SimulatorWorker, StartWorker } from './run-in-worker.js'

/** The bundler finds a worker's file by these very words. */
const files = {
  'statevector-js': () => new Worker(new URL('./own.worker.ts', import.meta.url), { type: 'module' }),
  'quantum-circuit': () => new Worker(new URL('./quantum-circuit.worker.ts', import.meta.url), { type: 'module' }),
  'qulacs-wasm': () => {
    const worker = new Worker(new URL('./qulacs.worker.ts', import.meta.url), { type: 'module' })
    // The policy of its file allows no request, so the page gets the compiled code for it.
    compiledCode().then((message) => worker.postMessage(message))
    return worker
  }
}

export const startWorker: StartWorker = (simulator) => files[simulator]() as SimulatorWorker

async function compiledCode(): Promise<CompiledCode> {
  try {
    const response = await fetch(wasm)
    if (!response.ok) throw new Error(`its code was answered with ${response.status}`)
    return { kind: 'compiled code', code: await response.arrayBuffer() }
  } catch (error) {
    return { kind: 'compiled code', fault: (error as Error).message }
  }
}
