import './quantum-circuit/global.js'
import { serve, type WorkerScope } from './protocol.js'
import { simulate } from './quantum-circuit/simulate.js'

serve(simulate, globalThis as unknown as WorkerScope)
