// Shows on stderr what a command waits for: a changing line on a terminal; elsewhere nothing, or with `lines` a line for each
// change.
import { screenOf } from './screen.js'
import { clipped } from './text-width.js'
import { plainLine } from './untrusted-text.js'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100

export interface Progress {
  /** Whether anything is shown. */
  readonly visible: boolean
  show(text: string): void
  /** Removes the line. */
  end(): void
}

/** @param options.lines prints lines where there is no terminal, such as in a log. */
export function startProgress(
  options: { lines?: boolean } = {},
  stream: NodeJS.WriteStream = process.stderr
): Progress {
  if (!stream.isTTY) return options.lines ? lineProgress(stream) : { visible: false, show() {}, end() {} }
  const began = Date.now()
  let text = ''
  let frame = 0
  const timer = setInterval(() => {
    if (!text) return
    frame = (frame + 1) % FRAMES.length
    const line = `${FRAMES[frame]} ${text} (${Math.floor((Date.now() - began) / 1000)} s)`
    // A line wider than the terminal would wrap and could not be erased.
    stream.write(`\r\x1b[K${clipped(line, screenOf(stream).columns - 1)}`)
  }, FRAME_MS)
  timer.unref()
  return {
    visible: true,
    show(next) {
      text = plainLine(next)
    },
    end() {
      clearInterval(timer)
      stream.write('\r\x1b[K')
    }
  }
}

function lineProgress(stream: NodeJS.WriteStream): Progress {
  let last = ''
  return {
    visible: true,
    show(text) {
      if (text === last) return
      last = text
      stream.write(`${plainLine(text)}\n`)
    },
    end() {}
  }
}
