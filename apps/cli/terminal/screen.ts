// What the terminals of this process can show. The only file that looks at them.
import { styleText } from 'node:util'
import { shortId } from '../../../domain/json/short-id.js'

export interface Screen {
  /** How many characters fit in a line; Infinity where there is no terminal, because scripts read whole values. */
  columns: number
  colours: boolean
}

/** Of a terminal that does not report its width. */
const COLUMNS_DEFAULT = 80
/** Below this, nothing that is cut is readable. */
const COLUMNS_MIN = 20

export const paper: Screen = { columns: Number.POSITIVE_INFINITY, colours: false }

const screens = { out: paper, err: paper }

/** Set once, at the start of the program. Everything before, and every test, writes as if to a file. */
export function findScreens(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): void {
  screens.out = screenOf(stdout)
  screens.err = screenOf(stderr)
}

export function screenOf(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Screen {
  if (!stream.isTTY) return paper
  return {
    columns: Math.max(COLUMNS_MIN, stream.columns || COLUMNS_DEFAULT),
    // In Node, FORCE_COLOR outweighs NO_COLOR.
    colours: !env.NO_COLOR && stream.hasColors()
  }
}

export const isTerminal = ({ columns }: Screen): boolean => columns !== Number.POSITIVE_INFINITY

export const outScreen = (): Screen => screens.out
export const errScreen = (): Screen => screens.err

export type Colour = 'green' | 'red' | 'yellow' | 'cyan' | 'gray' | 'bold'

export const coloured = (text: string, colour: Colour | null, { colours }: Screen): string =>
  colours && colour !== null && text !== '' ? styleText(colour, text, { validateStream: false }) : text

/** An id in a command that a message proposes: short where a terminal shows the message, and accepted so. */
export const idFor = (id: string, screen: Screen): string => (isTerminal(screen) ? shortId(id) : id)
