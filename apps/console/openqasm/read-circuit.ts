// The one reader of OpenQASM: what the server takes is read with the server's meaning, and all else is refused.
import type { Circuit, Fault, Position } from '../circuit/circuit.js'
import { ProgramFault } from './fault.js'
import { CLBITS_MAX, READ_QUBITS_MAX, TEXT_LENGTH_MAX } from './limits.js'
import { Program2 } from './version2/program.js'
import { readVersion3 } from './version3/program.js'

export type ReadCircuit = { circuit: Circuit } | { faults: Fault[] }

const SKIPPED = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g
const HEADER = /OPENQASM\s+(\d+)(?:\.(\d+))?\s*;/y
const REGISTER = /\b(qreg|creg)\s+[A-Za-z_]\w*\s*\[\s*(\d+)\s*\]/g
const VERSION_2_INCLUDE = /\binclude\s*"qelib1\.inc"/

/** Reads a program in OpenQASM 2 or 3; one without a version line is version 3. */
export function readCircuit(text: string): ReadCircuit {
  try {
    return { circuit: read(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    if (error instanceof ProgramFault) return { faults: [{ message: error.message, ...error.position }] }
    if (error instanceof RangeError) {
      return { faults: [{ message: 'the program is nested too deeply', line: 1, column: 1 }] }
    }
    throw error
  }
}

function read(text: string): Circuit {
  if (text.length > TEXT_LENGTH_MAX) {
    const message = `the program has ${text.length} characters, at most ${TEXT_LENGTH_MAX} are read`
    throw new ProgramFault(message, { line: 1, column: 1 })
  }
  const start = matched(SKIPPED, text, 0)?.[0].length ?? 0
  const header = matched(HEADER, text, start)
  if (header === null && (text.startsWith('OPENQASM', start) || VERSION_2_INCLUDE.test(text))) {
    const versions = "'OPENQASM 2.0;' or 'OPENQASM 3.0;'"
    const message = `the program has to begin with ${versions}; only OpenQASM 3 needs no version line`
    throw new ProgramFault(message, positionAt(text, start))
  }
  const [, major = '3', minor = '0'] = header ?? []
  if ((major !== '2' && major !== '3') || (major === '2' && minor !== '0')) {
    const message = `OpenQASM version ${major}.${minor} is not known; use 2.0 or 3.0`
    throw new ProgramFault(message, positionAt(text, start))
  }
  if (major === '3') return readVersion3(text)
  const bare = text.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ' '))
  checkRegisters(bare)
  return new Program2(text, bare).read()
}

/** Adds up the declared sizes before any of them is allocated. */
function checkRegisters(bare: string): void {
  const sizes = { qreg: 0, creg: 0 }
  for (const found of bare.matchAll(REGISTER)) {
    const kind = found[1] as 'qreg' | 'creg'
    sizes[kind] += Number(found[2])
    const position = positionAt(bare, found.index)
    if (sizes.qreg > READ_QUBITS_MAX) {
      throw new ProgramFault(`circuit needs ${sizes.qreg} qubits, at most ${READ_QUBITS_MAX} are read`, position)
    }
    if (sizes.creg > CLBITS_MAX) {
      const declared = `circuit declares ${sizes.creg} classical bits`
      throw new ProgramFault(`${declared}, at most ${CLBITS_MAX} are possible`, position)
    }
  }
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function positionAt(text: string, at: number): Position {
  const lines = text.slice(0, at).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}
