// Ends the children of a supervisor that could not do so itself (SIGKILL, out of memory).
//
// A shell of about 1 MB in a session of its own reads from a pipe whose only writer is the supervisor. It is told of
// every child; when the pipe ends, it sends each one its own signal, and SIGKILL to their groups after five seconds.
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
    // A watchdog that is gone protects nothing any more, but it must not end the stack that it protected.
    this.shell.on('error', () => {})
    this.shell.stdin?.on('error', () => {})
    this.shell.unref()
  }

  /** From now on the process ends with this one; `signal` is the one it is asked with. */
  add(pid: number, signal: NodeJS.Signals): void {
    this.write(`add ${signal.replace('SIG', '')} ${pid}`)
  }

  /** The process has ended: its id may be somebody else's from now on. */
  remove(pid: number): void {
    this.write(`del - ${pid}`)
  }

  /** Lets the watchdog end; children that are still known to it end too. */
  close(): void {
    this.shell.stdin?.end()
  }

  private write(line: string): void {
    if (this.shell.stdin?.writable) this.shell.stdin.write(`${line}\n`)
  }
}
