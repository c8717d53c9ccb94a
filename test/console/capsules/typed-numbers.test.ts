// What is typed for a number and is none reaches the service, which refuses it by the name of its field.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { stringify } from 'lossless-json'
import { fieldFault } from '../../../apps/console/api/field-fault.js'
import { runBody } from '../../../apps/console/capsules/run-form.js'
import { sealBody } from '../../../apps/console/capsules/seal/seal-form.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { bellQasm3 } from '../../support/jobs/builders.js'

const api = await startApi('typed_numbers')
afterAll(() => api.close())

let ada: TestUser
let capsule: string
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  const tasks = [{ name: 'main', inline_code: bellQasm3(), backend: 'local', parameters: { shots: 100 } }]
  capsule = (await ada.post('/api/capsules/create', { name: 'A draft', workflow: { tasks } })).body.capsule_id
})

const notNumbers = ['', ' ', 'zero', '0x1', '1e999', 'NaN', '1,5', '--1']

/** The field at which the console shows the refusal. */
async function refusedAt(action: 'seal' | 'run', body: unknown, fields: readonly string[]): Promise<unknown> {
  const { status, body: answer } = await ada.ask('POST', `/api/capsules/${capsule}/${action}`, stringify(body)!)
  return [status, fieldFault(new Error(answer.error), fields)?.field]
}

test.each(notNumbers)('an exit code of %j seals nothing', async (exitCode) => {
  const body = sealBody({ exitCode, exitMessage: '', margin: '' })
  expect(await refusedAt('seal', body, ['exit_code', 'margin'])).toEqual([400, 'exit_code'])
})

test.each(notNumbers.filter((text) => text.trim() !== ''))('a margin of %j seals nothing', async (margin) => {
  const body = sealBody({ exitCode: '0', exitMessage: '', margin })
  expect(await refusedAt('seal', body, ['exit_code', 'margin'])).toEqual([400, 'margin'])
})

test.each(notNumbers.filter((text) => text.trim() !== ''))('shots of %j start no run', async (shots) => {
  const body = runBody({ backend: '', shots, params: '' })
  expect(await refusedAt('run', body, ['shots', 'backend'])).toEqual([400, 'shots'])
})

test('a number is sent as one, and an empty field of a run stays as the capsule has it', () => {
  expect(sealBody({ exitCode: ' -3 ', exitMessage: 'm', margin: '0.25' })).toEqual({
    exit_code: -3,
    exit_message: 'm',
    margin: 0.25
  })
  expect(runBody({ backend: '', shots: '', params: '' })).toEqual({ mode: 'template' })
  expect(stringify(runBody({ backend: 'local', shots: '5', params: '{"theta":1.0}' }))).toBe(
    '{"mode":"template","params":{"theta":1.0},"backend":"local","shots":5}'
  )
})

test('a refusal of a part of a field stands at the field, with the part in its text', () => {
  expect(fieldFault(new Error('tags[1]: must be shorter'), ['tag', 'tags'])).toEqual({
    field: 'tags',
    text: 'tags[1]: must be shorter'
  })
  expect(fieldFault(new Error('ceilings.daily_usd: must be a number'), ['daily_usd'])).toBeNull()
  expect(fieldFault(new Error('the team is suspended'), ['tags'])).toBeNull()
})
