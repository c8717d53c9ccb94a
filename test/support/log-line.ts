// The form of the log lines of all own processes: docs/operations/observability.md.
import { expect } from '@jest/globals'

const levels = ['debug', 'info', 'warn', 'error', 'fatal']
const name = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/

/** The lines of a log, each checked. */
export function checkedLines(process: string, log: string): Record<string, unknown>[] {
  return log
    .trimEnd()
    .split('\n')
    .map((text) => {
      const line = JSON.parse(text) as Record<string, unknown>
      expect(line).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: expect.stringMatching(`^(${levels.join('|')})$`),
        process,
        msg: expect.stringMatching(/./)
      })
      expect([text, Object.keys(line).filter((field) => !name.test(field))]).toEqual([text, []])
      return line
    })
}
