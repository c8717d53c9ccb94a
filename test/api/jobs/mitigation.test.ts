// Jobs that mitigate errors, and jobs with observables at a provider: what their circuits cost, and what is refused.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { declareProviders } from '../../../db/backends/provider-workers.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('mitigation')
const { db, sql } = api.database
afterAll(() => api.close())

let ada: TestUser & { teamId: string }
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  await declareProviders(db, ['IonQ'])
  const secrets = { team_id: ada.teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } }
  expect((await ada.post('/api/team/secrets', secrets)).status).toBe(201)
  await sql`update backends set status = 'online' where slug like 'ionq-direct-%'`
  await sql`update backends set task_fee_micro = 300000, per_shot_micro = 350, minimum_cost_micro = 400000
    where slug = 'aer-noisy'`
})

const zne = { factors: [1, 3], fit: 'linear' }
const noisy = {
  shots: 1_000,
  observables: ['ZZ', 'XX'],
  mitigation: { readout: true, zne },
  noise_model: { like: 'iqm-garnet' }
}
const observed = { shots: 100, observables: ['ZZ', 'XX'] }

test.each([
  // The circuit itself, two groups with two factors each, and two calibrations.
  ['aer-noisy', noisy, 7, 4.55],
  ['ionq-direct-forte-1', observed, 3, 3.9],
  ['ionq-direct-forte-1', { ...observed, mitigation: { readout: true } }, 5, 6.5]
])(
  'the estimate, the reservation and a rerun are for all circuits that a job on %s takes',
  async (backend, params, circuits, cost) => {
    const query = new URLSearchParams({ backend, shots: String(params.shots), job_params: JSON.stringify(params) })
    const { body } = await ada.get(`/api/jobs/estimate?${query}`)
    expect(body).toMatchObject({ circuits, estimated_cost_usd: cost, breakdown: { tasks: circuits } })
    const job = await ada.submit(submission({ backend, params, team_id: ada.teamId }))
    const again = (await ada.post(`/api/jobs/${job}/rerun`)).body.job_id
    for (const id of [job, again])
      expect((await ada.get(`/api/jobs/${id}`)).body).toMatchObject({ estimated_cost_usd: cost, params })
  }
)

test.each([
  ['an unknown kind', 'aer-noisy', { mitigation: { twirling: true } }, 'params.mitigation.twirling: is not a field'],
  [
    'an unknown setting',
    'aer-noisy',
    { ...noisy, mitigation: { zne: { ...zne, folding: 'local' } } },
    'params.mitigation.zne.folding: is not a field'
  ],
  [
    'an unknown fit',
    'aer-noisy',
    { ...noisy, mitigation: { zne: { ...zne, fit: 'exponential' } } },
    'params.mitigation.zne.fit: must be one of linear, polynomial, richardson'
  ],
  [
    'six factors',
    'aer-noisy',
    { ...noisy, mitigation: { zne: { ...zne, factors: [1, 2, 3, 4, 5, 6] } } },
    'params.mitigation.zne.factors: must be a list of 2 to 5 items'
  ],
  [
    'a simulator without noise',
    'local',
    { mitigation: { readout: true } },
    'params.mitigation: local runs without noise'
  ],
  ['no noise model', 'aer-noisy', { mitigation: { readout: true } }, 'params.mitigation: without params.noise_model'],
  [
    'nothing to extrapolate',
    'aer-noisy',
    { ...noisy, observables: undefined },
    'params.mitigation.zne: extrapolates expectation values'
  ],
  [
    'folds at a provider',
    'ionq-direct-forte-1',
    { ...observed, mitigation: { zne } },
    'compiles circuits itself and can remove folded gates'
  ],
  [
    'exact values at a provider',
    'ionq-direct-forte-1',
    { ...observed, observables_method: 'exact' },
    'has no state to compute exact values from'
  ]
])('%s is refused by name', async (_name, backend, params, problem) => {
  const answer = await ada.post(
    '/api/jobs/submit',
    submission({ backend, params: { shots: 100, ...params }, team_id: ada.teamId })
  )
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(problem)])
})
