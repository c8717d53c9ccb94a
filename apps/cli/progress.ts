// A line on stderr that tells what is being waited for. Only on a terminal: a log file gets nothing of it.

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100

export interface Progress {
  show(text: string): void
  /** Removes the line. */
  end(): void
}

export function startProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { show() {}, end() {} }
  const began = Date.now()
  let text = ''
  let frame = 0
  const timer = setInterval(() => {
    if (!text) return
    frame = (frame + 1) % FRAMES.length
    const line = `${FRAMES[frame]} ${text} (${Math.floor((Date.now() - began) / 1000)} s)`
    // A line wider than the terminal would wrap and could not be taken back.
    stream.write(`\r\x1b[K${[...line].slice(0, Math.max(1, (stream.columns || 80) - 1)).join('')}`)
  }, FRAME_MS)
  timer.unref()
  return {
    show(next) {
      text = next
    },
    end() {
      clearInterval(timer)
      stream.write('\r\x1b[K')
    }
  }
}
