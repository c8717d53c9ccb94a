// Times in requests: a time that no column of the database can store is refused by name, in every field.
import { afterAll, expect, test } from '@jest/globals'
import { startApi } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('times')
afterAll(() => api.close())
const user = await api.signUp({ admin: true })

/** The last two are in the years 0 and 10000 in UTC. */
const beyond = ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59']

type Question = (time: string) => ReturnType<typeof user.get>
const questions: [field: string, path: string, Question][] = [
  ['created_after', 'GET /api/jobs', (time) => user.get(`/api/jobs?created_after=${encodeURIComponent(time)}`)],
  ['created_before', 'GET /api/jobs', (time) => user.get(`/api/jobs?created_before=${encodeURIComponent(time)}`)],
  ['not_before', 'POST /api/jobs/submit', (time) => user.post('/api/jobs/submit', submission({ not_before: time }))],
  [
    'expires_at',
    'POST /api/team/api-keys',
    (time) => user.post('/api/team/api-keys', { name: 'k', tier: 'read', kind: 'live', expires_at: time })
  ],
  [
    'expires_at',
    'POST /api/admin/access-codes',
    (time) => user.post('/api/admin/access-codes', { uses: 1, expires_at: time })
  ]
]

test.each(questions)('%s of %s refuses years that cannot be stored', async (field, _path, ask) => {
  for (const time of beyond) {
    const { status, body } = await ask(time)
    expect([time, status, body.error]).toEqual([
      time,
      400,
      expect.stringMatching(`^${field}: must be a valid date-time`)
    ])
  }
})

test('the first and the last time that can be stored are accepted', async () => {
  for (const time of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])
    expect((await user.get(`/api/jobs?created_after=${time}`)).status).toBe(200)
})
