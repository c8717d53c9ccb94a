// Every refusal reaches a user of the public client as the documented exception, with a message that names the remedy.
import { expect, test } from '@jest/globals'
import { bellQasm3 } from '../support/jobs/builders.js'
import type { Raised } from '../support/jobs/marqov.js'
import { PAID, type Scene } from './scene.js'

const SUBMIT = 'connect(url, key).submit(code, backend=backend, framework="openqasm", shots=shots)'

export function checkRefusals(scene: () => Scene): void {
  const refusal = (code: string, names: Record<string, unknown> = {}): Promise<Raised> =>
    scene().python.refusal(code, { ...scene().there, ...names })
  const submitting = (names: Record<string, unknown>) =>
    refusal(SUBMIT, { code: bellQasm3(), backend: 'local', shots: 100, ...names })

  test('an unknown key is an AuthenticationError', async () => {
    const names = { key: 'marqey_live_bad', id: crypto.randomUUID() }
    expect(await refusal('connect(url, key).job(id).status()', names)).toMatchObject({
      type: 'AuthenticationError',
      code: 'unauthorized',
      status: 401,
      message: expect.stringContaining('unknown, revoked or expired')
    })
  })

  test('a .netrc entry that replaces the key is recognised by its scheme', async () => {
    const code = `
      import os, pathlib
      file = pathlib.Path.home() / ".netrc"
      file.write_text("machine 127.0.0.1 login ada password secret\\n")
      try:
          connect(url, key).job(id).status()
      finally:
          file.unlink()
    `
    expect(await refusal(code, { id: crypto.randomUUID() })).toMatchObject({
      type: 'AuthenticationError',
      message: expect.stringMatching(/must be Bearer \(got "Basic"; .*netrc/)
    })
  })

  test('a read-only key is a PermissionTierError', async () => {
    expect(await submitting({ key: await scene().newKey('read') })).toMatchObject({
      type: 'PermissionTierError',
      code: 'permission_denied',
      status: 403,
      message: expect.stringContaining('tier simulate (this one has tier read)')
    })
  })

  test('a paid backend is a PermissionTierError for a key of tier simulate', async () => {
    expect(await submitting({ backend: PAID })).toMatchObject({
      type: 'PermissionTierError',
      code: 'permission_denied',
      message: expect.stringContaining('qpu')
    })
  })

  test.each([
    ['that does not exist', 'nope', 'backend_unknown'],
    ['that its provider retired', 'tn1', 'backend_retired']
  ])('a backend %s is BackendUnavailable', async (_name, backend, code) => {
    expect(await submitting({ backend })).toMatchObject({
      type: 'BackendUnavailable',
      code,
      message: expect.stringContaining(backend)
    })
  })

  test('a disabled backend is a MarqovPlatformError that names it', async () => {
    await scene().ask('PATCH', '/api/admin/backends/aer-density-matrix', { status: 'maintenance' })
    expect(await submitting({ backend: 'aer-density-matrix' })).toMatchObject({
      type: 'MarqovPlatformError',
      code: 'backend_unavailable',
      message: expect.stringContaining('aer-density-matrix is in maintenance')
    })
  })

  test.each([
    ['no shots', { shots: 0 }, 'params.shots'],
    ['negative shots', { shots: -5 }, 'params.shots'],
    ['more shots than the limit', { shots: 100_001 }, 'params.shots'],
    ['no code', { code: '' }, 'inline_code']
  ])('%s is InvalidProgram', async (_name, names, field) => {
    expect(await submitting(names)).toMatchObject({
      type: 'InvalidProgram',
      code: 'validation_error',
      status: 400,
      message: expect.stringContaining(field)
    })
  })

  test('an unknown framework is InvalidProgram, and the message lists the known ones', async () => {
    const code = 'connect(url, key).submit("x", backend="local", framework="fortran")'
    expect(await refusal(code)).toMatchObject({
      type: 'InvalidProgram',
      message: expect.stringMatching(/framework.*qiskit.*marqov/)
    })
  })

  test('an unknown job and a job of another team are not found', async () => {
    const other = await scene().newTeam()
    const id = await scene().platform.submit({
      inline_code: bellQasm3(),
      framework: 'openqasm',
      backend: 'local',
      params: { shots: 10 },
      team_id: other
    })
    const outcome = []
    for (const job of [crypto.randomUUID(), id])
      outcome.push(await refusal('connect(url, key).job(job).status()', { job }))
    for (const one of outcome)
      expect(one).toMatchObject({ type: 'MarqovPlatformError', code: 'not_found', status: 404, message: 'no such job' })
  })

  test('a malformed id is a refusal with a code in every path', async () => {
    for (const job of ['nothing', '..', '%', '../../openapi', 'a/b/c', 'x'.repeat(500), '%00'])
      for (const call of ['status', 'cancel'])
        expect(await refusal(`connect(url, key).job(job).${call}()`, { job })).toMatchObject({
          type: expect.stringMatching(/^(InvalidProgram|MarqovPlatformError)$/),
          code: expect.stringMatching(/^(validation_error|not_found)$/)
        })
  })

  test('a spent budget is reported with its figures', async () => {
    const teamId = await scene().newTeam()
    await scene().ask('PUT', `/api/admin/teams/${teamId}/budgets`, { daily_usd: 1.5 })
    const key = await scene().newKey('qpu', { team_id: teamId })
    await scene().python.run(SUBMIT, { ...scene().there, key, code: bellQasm3(), backend: PAID, shots: 100 })
    expect(await submitting({ key, backend: PAID })).toMatchObject({
      type: 'MarqovPlatformError',
      code: 'budget_exceeded',
      status: 402,
      message: expect.stringMatching(/\$1\.00 .*daily budget \(\$0\.50 of \$1\.50\)/)
    })
    const ofKey = await scene().newKey('qpu', { daily_limit_usd: 0.25 })
    expect(await submitting({ key: ofKey, backend: PAID })).toMatchObject({
      type: 'MarqovPlatformError',
      code: 'spend_limit_exceeded',
      message: expect.stringContaining('$0.25')
    })
  })

  test('a suspended team gets a PermissionTierError with the reason, and can still read', async () => {
    const teamId = await scene().newTeam()
    const key = await scene().newKey('simulate', { team_id: teamId })
    await scene().ask('POST', `/api/admin/teams/${teamId}/suspend`, { reason: 'for a check' })
    expect(await submitting({ key })).toMatchObject({
      type: 'PermissionTierError',
      code: 'team_suspended',
      message: expect.stringContaining('suspended')
    })
    const names = { ...scene().there, key, team: teamId }
    expect(await scene().python.run('return len(connect(url, key).managed_runtimes(team))', names)).toBeGreaterThan(0)
    const native = 'connect(url, key).submit_native(team_id=team, source="x = 1", entrypoint="wf", cap_cents=1)'
    expect(await refusal(native, names)).toMatchObject({ type: 'PermissionTierError', code: 'team_suspended' })
  })
}
