// What a script asks of the service while it runs: the results of a graph of tasks, or the counts of a circuit on a backend
// that the sandbox cannot reach.

/** A task call as the executor tells it. `function` and `arguments` are texts that nobody but the sandbox opens. */
export interface RequestedTask {
  node_id: string
  name: string
  func_name: string
  /** A pickled function, in base64. */
  function: string
  /** JSON of { args, kwargs }, with references to results of other tasks. */
  arguments: string
  retries: number
  timeout_seconds: number
  dependencies: string[]
}

export interface RequestedGraph {
  kind: 'graph'
  number: number
  digest: string
  /** What the graph gives is the job's result, and the script is over. */
  final: boolean
  graph: {
    name: string
    nodes: RequestedTask[]
    levels: string[][]
    /** JSON of what the workflow returns, with references to results. */
    output: string
    /** The tasks that `output` refers to. */
    returns: string[]
    dot: string
  }
}

export interface RequestedCircuit {
  kind: 'circuit'
  number: number
  digest: string
  final: false
  shots: number
  openqasm3: string
  /** What the circuit's text cannot say: shown names of registers, observables, warnings. */
  facts: Record<string, unknown>
  registers: unknown[]
}

/** What is kept of an asked graph beside its tasks. */
export type GraphBody = Pick<RequestedGraph['graph'], 'name' | 'output' | 'returns' | 'dot'>

/** The key of a task within its job: as its graph has it, behind the number of a later graph. */
export const taskKey = (ask: number, nodeId: string): string => (ask === 1 ? nodeId : `${ask}.${nodeId}`)

/** The task's id within its own graph. */
export const nodeIdOf = (key: string): string => key.slice(key.indexOf('.') + 1)
