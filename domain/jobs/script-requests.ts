// What a script can request from the service while it runs: the results of a task graph, or the counts of a circuit on
// a backend that the sandbox cannot reach.

/** A task call as the executor reports it. Only the sandbox opens `function` and `arguments`. */
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
  /** The graph's output is the job's result, and the script has finished. */
  final: boolean
  graph: {
    name: string
    nodes: RequestedTask[]
    levels: string[][]
    /** JSON text of the workflow's return value, with references to results. */
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
  /** What the circuit's text cannot express: display names of registers, observables, warnings. */
  facts: Record<string, unknown>
  registers: unknown[]
}

/** What is stored of a requested graph in addition to its tasks. */
export type GraphBody = Pick<RequestedGraph['graph'], 'name' | 'output' | 'returns' | 'dot'>

/**
 * The key of a task within its job: its id in the graph, prefixed with the number of the request from the second graph
 * on.
 */
export const taskKey = (ask: number, nodeId: string): string => (ask === 1 ? nodeId : `${ask}.${nodeId}`)

/** The task's id within its own graph. */
export const nodeIdOf = (key: string): string => key.slice(key.indexOf('.') + 1)
