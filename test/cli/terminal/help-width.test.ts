// The help of every command on a narrow terminal.

import { expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { qjobProgram } from '../../../apps/cli/program.js'
import { wrapped } from '../../../apps/cli/terminal/text-width.js'

const below = (command: Command): Command[] => [command, ...command.commands.flatMap(below)]

test('the help of every command fits a terminal of 60 columns, and breaks no word of an option', async () => {
  const all = below(await qjobProgram())
  expect(all.length).toBeGreaterThan(30)
  const tooWide = all.flatMap((command) => {
    let text = ''
    command.configureOutput({ getOutHelpWidth: () => 60, writeOut: (part) => (text += wrapped(part, 60)) })
    command.outputHelp()
    for (const option of command.options) expect(text).toContain(option.flags)
    return text.split('\n').filter((line) => line.length > 60)
  })
  expect(tooWide).toEqual([])
})
