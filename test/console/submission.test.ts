import { expect, test } from '@jest/globals'
import { emptyForm, faultOf, submitBody } from '../../apps/console/jobs/submit/submission.js'

test('a submission names the team, and leaves out what the form leaves empty', () => {
  const body = submitBody({ ...emptyForm, program: 'p', backend: 'local' }, { team_id: 't' })
  expect(body).toEqual({ inline_code: 'p', backend: 'local', params: { shots: 1000 }, team_id: 't' })
})

test('a number that is none is sent as it was typed, for the service to refuse', () => {
  const form = { ...emptyForm, program: 'p', backend: 'local', shots: 'many', seed: '7', maxCost: '0.5' }
  expect(submitBody(form, {})).toMatchObject({ params: { shots: 'many', seed: 7 }, max_cost_usd: 0.5 })
})

test('parameters of an earlier job are sent along', () => {
  expect(submitBody({ ...emptyForm, backend: 'local' }, {}, { observables: ['ZZ'] })).toMatchObject({
    params: { observables: ['ZZ'], shots: 1000 }
  })
})

test('a refusal is put at the field that it names', () => {
  expect(faultOf('params.shots: must be at least 1 (got 0)')).toEqual({
    field: 'shots',
    text: 'must be at least 1 (got 0)'
  })
  expect(faultOf('something else went wrong')).toBeNull()
  expect(faultOf('not_before: must be later')).toBeNull()
})
