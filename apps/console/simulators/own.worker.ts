import { simulate } from './own/simulate.js'
import { serve, type WorkerScope } from './protocol.js'

serve(simulate, globalThis as unknown as WorkerScope)
