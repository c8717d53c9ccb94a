// What runs in a judging thread (judge-pool.ts): one verification at a time. Bundled as a program of its own, since a thread
// begins at a file.
import { parentPort } from 'node:worker_threads'
import { type JudgeInput, verify } from './verify.js'

parentPort!.on('message', (input: JudgeInput) => {
  try {
    parentPort!.postMessage({ verification: verify(input) })
  } catch (error) {
    parentPort!.postMessage({ problem: error instanceof Error ? error.message : String(error) })
  }
})
