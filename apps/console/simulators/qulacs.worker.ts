import load from 'qulacs-wasm-simulator-client/lib/wasm/module.js'
import wasm from 'qulacs-wasm-simulator-client/lib/wasm/module.wasm?url'
import { serve, type WorkerScope } from './protocol.js'
import { simulateWith } from './qulacs/simulate.js'

// The bundler puts the compiled code among the page's assets, under a name of its own.
serve(
  simulateWith(() => load({ locateFile: () => wasm })),
  globalThis as unknown as WorkerScope
)
