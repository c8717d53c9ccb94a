// Stops the children of a supervisor that was killed before it could do so (SIGKILL, out of memory).
//
// A shell of about 1 MB in its own session reads from a pipe whose only writer is the supervisor, which reports every child.
// When the pipe closes, the shell sends each child its own signal, and SIGKILL to their groups after five seconds.
import { type ChildProcess, spawn } from 'node:child_process'

const script = `
trap '' INT TERM HUP
list=
while read -r op signal pid; do
  if [ "$op" = add ]; then
    list="$list $signal:$pid"
  else
    rest=
    for entry in $list; do [ "\${entry#*:}" = "$pid" ] || rest="$rest $entry"; done
    list=$rest
  fi
done
for entry in $list; do kill -"\${entry%%:*}" "\${entry#*:}" 2>/dev/null; done
turn=0
while [ $turn -lt 50 ]; do
  alive=
  for entry in $list; do kill -0 "\${entry#*:}" 2>/dev/null && alive=yes; done
  [ -z "$alive" ] && exit 0
  turn=$((turn + 1))
  sleep 0.1
done
for entry in $list; do kill -KILL -"\${entry#*:}" 2>/dev/null; done
`

export class Watchdog {
  private readonly shell: ChildProcess

  constructor() {
    this.shell = spawn('/bin/sh', ['-c', script, 'watchdog'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
      env: { PATH: process.env.PATH }
    })
    // The loss of the watchdog must not stop the stack.
    this.shell.on('error', () => {})
    this.shell.stdin?.on('error', () => {})
    this.shell.unref()
  }

  /** From now on the process is stopped with `signal` when this one dies. */
  add(pid: number, signal: NodeJS.Signals): void {
    this.write(`add ${signal.replace('SIG', '')} ${pid}`)
  }

  /** Call it when the process has exited: the system may give its id to another process. */
  remove(pid: number): void {
    this.write(`del - ${pid}`)
  }

  /** Stops the watchdog, which stops any children that are still registered. */
  close(): void {
    this.shell.stdin?.end()
  }

  private write(line: string): void {
    if (this.shell.stdin?.writable) this.shell.stdin.write(`${line}\n`)
  }
}
