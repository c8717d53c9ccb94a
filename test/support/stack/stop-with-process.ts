// A stack that a program starts has a process group of its own, which Ctrl-C in a terminal does not reach.
import type { QjobStart } from './qjob-start.js'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Has a signal that ends this process stop the stack too, in order. */
export function stopWithProcess(stack: QjobStart): void {
  const stop = (signal: NodeJS.Signals) => {
    forget()
    stack.signal('SIGINT')
    process.kill(process.pid, signal)
  }
  const forget = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  stack.exited.then(forget)
}
