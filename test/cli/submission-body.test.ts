// The body that a file becomes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { submissionBody } from '../../apps/cli/jobs/submission-body.js'
import { projectRoot } from '../../apps/cli/stack/project.js'

const analog = join(projectRoot, 'examples/analog.json')
const options = { backend: 'quera-aquila', shots: 100, param: [], label: [] }

test('an analog program is sent as a circuit of its own format, byte for byte', async () => {
  const body = JSON.parse(await submissionBody({ files: [analog] }, options))
  expect(body).toEqual({
    circuit: { format: 'ahs', payload: readFileSync(analog, 'utf8') },
    backend: 'quera-aquila',
    params: { shots: 100 }
  })
})

test('an analog program has no framework, and several are no sweep', async () => {
  await expect(submissionBody({ files: [analog] }, { ...options, framework: 'braket' })).rejects.toThrow(
    'analog.json is an analog program, which has none'
  )
  await expect(submissionBody({ files: [analog, analog] }, options)).rejects.toThrow(
    'several files must all be OpenQASM'
  )
})
