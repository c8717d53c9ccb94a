import { afterAll, expect, test } from '@jest/globals'
import { startApi } from '../support/api.js'
import { submission } from '../support/builders.js'
import { bellResult, finishJob } from '../support/capsule-rows.js'

const api = await startApi('zz_measure')
afterAll(() => api.close())
test('measure', async () => {
  const ada = await api.signUpWithTeam()
  for (const outcomes of [2, 1024, 100_000, 2]) {
    const counts = Object.fromEntries(
      Array.from({ length: outcomes }, (_, at) => [
        at.toString(2).padStart(20, '0'),
        Math.max(1, Math.floor(100_000 / outcomes))
      ])
    )
    const jobId = await ada.submit(submission())
    await finishJob(api.database.db, jobId, bellResult(counts))
    let t = performance.now()
    const made = await ada.post('/api/capsules/from-job', { job_id: jobId })
    const fromJob = performance.now() - t
    let worst = 0
    let last = performance.now()
    const timer = setInterval(() => {
      const now = performance.now()
      worst = Math.max(worst, now - last - 5)
      last = now
    }, 5)
    t = performance.now()
    const sealed = await ada.post(`/api/capsules/${made.body.capsule_id}/seal`, { exit_code: 0 })
    const seal = performance.now() - t
    clearInterval(timer)
    t = performance.now()
    const out = await ada.get(`/api/capsules/${made.body.capsule_id}/export`)
    console.log(
      outcomes,
      'from-job',
      fromJob.toFixed(0),
      'seal',
      seal.toFixed(0),
      'loop',
      worst.toFixed(0),
      'export',
      (performance.now() - t).toFixed(0),
      'margin',
      sealed.body.seal?.margin,
      sealed.status,
      out.status
    )
    expect(sealed.status).toBe(200)
  }
}, 60_000)
