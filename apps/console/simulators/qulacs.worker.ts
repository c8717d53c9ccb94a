import load from 'qulacs-wasm-simulator-client/lib/wasm/module.js'
import { type CompiledCode, type RunMessage, serve, type WorkerScope } from './protocol.js'
import { simulateWith } from './qulacs/simulate.js'

const compiled = new Promise<ArrayBuffer>((resolve, reject) => {
  addEventListener('message', (event: MessageEvent<RunMessage | CompiledCode>) => {
    const { data } = event
    if (data.kind !== 'compiled code') return
    // This message is not for the simulator, which is asked after it.
    event.stopImmediatePropagation()
    if ('code' in data) resolve(data.code)
    else reject(new Error(data.fault))
  })
})

serve(
  simulateWith(async () => load({ wasmBinary: await compiled })),
  globalThis as unknown as WorkerScope
)
