// What is still to be recorded of an attempt's output: each byte once, in order, also when an execution is repeated.
import { describe, expect, test } from '@jest/globals'
import { type OutputBuffer, outputBuffer } from '../../../activities/job/output-buffer.js'

const piece = (offset: number, text: string, truncatedBytes = 0) => ({ offset, text, truncatedBytes })
/** Records everything that the buffer has; returns the parts. */
function recorded(buffer: OutputBuffer, last = false) {
  const parts = []
  for (let part = buffer.next(last); part; part = buffer.next(last)) {
    parts.push(part)
    buffer.stored(part)
  }
  return parts
}

describe('the output of an attempt', () => {
  test('is recorded in the order of its pieces, those that came together as one part', () => {
    const buffer = outputBuffer()
    expect(buffer.next(false)).toBeNull()
    buffer.add(piece(0, 'one'))
    buffer.add(piece(3, '€'))
    expect(recorded(buffer)).toEqual([{ text: 'one€', offset: 0, end: 6, dropped: 0 }])
    buffer.add(piece(6, 'two'))
    expect(recorded(buffer)).toEqual([{ text: 'two', offset: 6, end: 9, dropped: 0 }])
    expect(buffer.recorded).toEqual({ bytes: 9, dropped: 0 })
  })

  test('keeps what is printed while a part is being recorded', () => {
    const buffer = outputBuffer()
    buffer.add(piece(0, 'one'))
    const part = buffer.next(false)!
    buffer.add(piece(3, 'two'))
    buffer.stored(part)
    expect(recorded(buffer)).toEqual([{ text: 'two', offset: 3, end: 6, dropped: 0 }])
  })

  test('is recorded once when a script is replayed in its attempt, wherever the earlier execution stopped', () => {
    for (let known = 0; known <= 6; known++) {
      const buffer = outputBuffer()
      buffer.add(piece(0, 'onetwo'))
      buffer.continueAfter({ bytes: known, dropped: 0 })
      expect(recorded(buffer).map(({ text }) => text)).toEqual(known === 6 ? [] : ['onetwo'.slice(known)])
    }
    const buffer = outputBuffer()
    buffer.add(piece(0, 'one'))
    buffer.continueAfter({ bytes: 5, dropped: 0 })
    buffer.add(piece(3, 'two'))
    expect(recorded(buffer)).toEqual([{ text: 'o', offset: 5, end: 6, dropped: 0 }])
  })

  test('is recorded once when the execution in the executor is gone and another begins', () => {
    const buffer = outputBuffer()
    buffer.add(piece(0, 'one'))
    recorded(buffer)
    buffer.add(piece(0, 'onet'))
    buffer.add(piece(4, 'wo'))
    expect(recorded(buffer)).toEqual([{ text: 'two', offset: 3, end: 6, dropped: 0 }])
  })

  test('continues where the execution was parked', () => {
    const buffer = outputBuffer()
    buffer.add(piece(7, 'goes on'))
    const part = buffer.next(false)!
    expect(part).toEqual({ text: 'goes on', offset: 7, end: 14, dropped: 0 })
    buffer.continueAfter({ bytes: 7, dropped: 0 })
    expect(recorded(buffer)).toEqual([part])
  })

  test('counts what follows a cut when it is cut and at the end', () => {
    const buffer = outputBuffer()
    buffer.add(piece(0, 'text', 10))
    expect(recorded(buffer)).toEqual([{ text: 'text', offset: 0, end: 4, dropped: 10 }])
    buffer.add(piece(4, '', 900))
    expect(recorded(buffer)).toEqual([])
    expect(recorded(buffer, true)).toEqual([{ text: '', offset: 4, end: 4, dropped: 900 }])
    expect(recorded(buffer, true)).toEqual([])
  })

  test('is only counted once the job has no room for more', () => {
    const buffer = outputBuffer()
    buffer.add(piece(0, 'four'))
    buffer.countOnly()
    buffer.add(piece(4, 'five!'))
    expect(recorded(buffer)).toEqual([{ text: '', offset: 9, end: 9, dropped: 9 }])
    buffer.add(piece(9, 'six'))
    expect(recorded(buffer)).toEqual([])
    expect(recorded(buffer, true)).toEqual([{ text: '', offset: 12, end: 12, dropped: 12 }])
  })
})
