import { describe, expect, test } from '@jest/globals'
import { stringify } from 'lossless-json'
import { ApiError } from '../../apps/console/api/api-error.js'
import { readJobRecord } from '../../apps/console/jobs/record/job-record.js'
import { againOf, whyNotEdited } from '../../apps/console/jobs/submit/again.js'
import { refusalsOf } from '../../apps/console/jobs/submit/refusals.js'
import { AUTO, emptySettings, refusalAt, settingsBody, typedParams } from '../../apps/console/jobs/submit/settings.js'
import { emptyForm, programFields, submitBody } from '../../apps/console/jobs/submit/submission.js'

test('a submission names the team, and leaves out what the form leaves empty', () => {
  const body = submitBody({ ...emptyForm, program: 'p', backend: 'local' }, {}, { team_id: 't' })
  expect(body).toEqual({ inline_code: 'p', backend: 'local', params: { shots: 1000 }, team_id: 't' })
})

test('a number that is none is sent as it was typed, for the service to refuse', () => {
  const form = { ...emptyForm, shots: 'many', seed: '7', maxCost: '0.5', timeout: 'long' }
  expect(submitBody(form, {}, {})).toMatchObject({
    params: { shots: 'many', seed: 7 },
    max_cost_usd: 0.5,
    timeout_seconds: 'long'
  })
})

test('all settings are in the submission, and wishes only where the service chooses the backend', () => {
  const settings = {
    ...emptySettings,
    backend: AUTO,
    labels: 'one\n\ntwo, three\n',
    timeout: '60',
    notBefore: '2030-01-31T20:00:00Z ',
    notify: 'email',
    maxWait: '30',
    minQubits: '5',
    hardware: 'false',
    wishedCost: '1.5'
  }
  const body = {
    params: { shots: 1000, observables: ['ZZ'] },
    labels: ['one', 'two, three'],
    timeout_seconds: 60,
    not_before: '2030-01-31T20:00:00Z',
    notify: 'email'
  }
  const choose = { max_wait_seconds: 30, min_qubits: 5, hardware: false, max_cost_usd: 1.5 }
  const params = { observables: ['ZZ'] }
  expect(settingsBody(settings, params, {})).toEqual({ ...body, backend: AUTO, choose })
  expect(settingsBody({ ...settings, backend: 'local' }, params, {})).toEqual({ ...body, backend: 'local' })
})

describe('parameters as JSON', () => {
  test('keep every digit', () => {
    const text = '{"theta":1.0,"exact":0.12345678901234567890,"points":[{"theta":1e-400}]}'
    const read = typedParams(text, ['shots'])
    expect('value' in read && stringify(read.value)).toBe(text)
    expect(typedParams(' ', ['shots'])).toEqual({ value: {} })
  })

  test.each(['{', '[1]', 'null', '7', '{"a":1} {}'])('that are no object are a fault: %s', (text) => {
    expect(typedParams(text, [])).toEqual({ fault: expect.stringContaining('must be JSON of an object') })
  })

  test('cannot name what has a field of its own', () => {
    expect(typedParams('{"shots":1}', ['shots', 'seed'])).toEqual({ fault: 'shots has a field of its own' })
  })
})

describe('a refusal is put at the field that it names', () => {
  test.each([
    ['params.shots: must be at least 1 (got 0)', { field: 'shots', param: null, text: 'must be at least 1 (got 0)' }],
    ['not_before: must be later', { field: 'notBefore', param: null, text: 'must be later' }],
    ['labels[3]: is too long', { field: 'labels', param: null, text: 'is too long' }],
    ['choose.min_qubits: no', { field: 'minQubits', param: null, text: 'no' }],
    ['params.points[2].theta: no', { field: 'params', param: 'points', text: 'points[2].theta: no' }],
    ['params.shots.more: no', { field: 'params', param: 'shots', text: 'shots.more: no' }],
    ['something else went wrong', null],
    ['backend: is away', null]
  ])('%s', (message, found) => expect(refusalAt(message)).toEqual(found))

  test('or below the form, once, where no field shows it', () => {
    const refused = (message: string, status = 400) => new ApiError(status, message, null)
    const errors = [
      refused('framework: unknown'),
      refused('circuit.payload: is empty'),
      refused('params.size: no'),
      null,
      refused('backend: is away'),
      refused('backend: is away'),
      refused('shots: not for this one', 402)
    ]
    const found = refusalsOf(errors, { more: programFields, unseen: ['framework'], params: ['size'] })
    expect(found.at('program')).toBe('is empty')
    expect(found.atParam('size')).toBe('size: no')
    expect([found.at('params'), found.at('shots'), found.at('framework')]).toEqual([null, null, null])
    expect(found.rest.map((error) => (error as Error).message)).toEqual([
      'framework: unknown',
      'backend: is away',
      'shots: not for this one'
    ])
  })
})

describe('a job that is edited and run again', () => {
  const record = {
    name: 'the first',
    backend: 'local',
    framework: 'qiskit',
    execution_mode: 'temporal',
    labels: ['a', 'b c'],
    timeout_seconds: 77,
    max_cost_usd: 0.000001,
    entrypoint: null,
    source: { kind: 'script', format: null }
  }
  const read = (params: string, changes: object = {}) =>
    readJobRecord(`${JSON.stringify({ ...record, ...changes }).slice(0, -1)},"params":${params}}`)

  test('keeps all that a run again keeps', () => {
    const { start, kept } = againOf(read('{"shots":5,"seed":0,"theta":1.0,"n":12345678901234567890}'), 'p')
    const typed = typedParams(start.params, ['shots', 'seed'])
    const params = { ...kept, ...('value' in typed ? typed.value : {}) }
    expect(stringify(submitBody(start, params, { team_id: 't' }))).toBe(
      stringify({
        inline_code: 'p',
        framework: 'qiskit',
        backend: 'local',
        params: { theta: 0, n: 0, shots: 5, seed: 0 },
        team_id: 't',
        name: 'the first',
        execution_mode: 'temporal',
        max_cost_usd: 0.000001,
        labels: ['a', 'b c'],
        timeout_seconds: 77
      })!.replace('"theta":0,"n":0', '"theta":1.0,"n":12345678901234567890')
    )
  })

  test('sends parameters along that are too long for a field', () => {
    const points = Array.from({ length: 4_000 }, () => '{"theta":1.0}').join()
    const { start, kept } = againOf(read(`{"shots":5,"points":[${points}]}`), 'p')
    expect(start.params).toBe('')
    expect(stringify(kept)).toBe(`{"points":[${points}]}`)
  })

  test('stays a circuit of its format', () => {
    const source = { kind: 'circuit', format: 'ahs' }
    const { start } = againOf(read('{"shots":5}', { source, framework: 'ahs' }), '{}')
    const body = submitBody(start, {}, {})
    expect(body).toMatchObject({ circuit: { format: 'ahs', payload: '{}' } })
    expect(body).not.toHaveProperty('framework')
    expect(body).not.toHaveProperty('inline_code')
  })

  test.each([
    [{ source: { kind: 'inline', format: null } }, null],
    [{ source: { kind: 'circuit', format: 'qasm2' } }, null],
    [{ source: { kind: 'circuits', format: 'qasm3' } }, 'was not submitted as one program'],
    [{ source: { kind: 'capsule', format: null } }, 'was not submitted as one program'],
    [{ entrypoint: 'work' }, 'calls work with arguments']
  ])('is one that the form can hold: %o', (changes, why) => {
    const found = whyNotEdited(read('{}', changes).record)
    expect(found).toEqual(why === null ? null : expect.stringContaining(why))
  })
})
