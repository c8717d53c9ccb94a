// Graphs of tasks, as a script requests them.
import type { RequestedGraph } from '../../../domain/jobs/script-requests.js'

/** @param tasks each task with the tasks whose results it takes, in the order of the script. */
export function requestedGraph(tasks: Record<string, string[]>): RequestedGraph {
  const ids = Object.keys(tasks)
  const levels: string[][] = []
  const levelOf = new Map<string, number>()
  for (const id of ids) {
    const level = Math.max(-1, ...tasks[id]!.map((needed) => levelOf.get(needed)!)) + 1
    levelOf.set(id, level)
    levels[level] ??= []
    levels[level].push(id)
  }
  const returned = ids.at(-1)!
  return {
    kind: 'graph',
    number: 1,
    digest: 'd'.repeat(64),
    final: true,
    graph: {
      name: 'a workflow',
      nodes: ids.map((id) => ({
        node_id: id,
        name: id,
        func_name: 'f',
        function: Buffer.from('a pickled function').toString('base64'),
        arguments: JSON.stringify({ args: [id], kwargs: {} }),
        retries: 0,
        timeout_seconds: 300,
        dependencies: tasks[id]!
      })),
      levels,
      output: JSON.stringify({ __proxy__: true, node_id: returned }),
      returns: [returned],
      dot: 'digraph workflow {}'
    }
  }
}
