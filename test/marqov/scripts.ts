// Saved scripts with the public client: saved, read, analysed and run.
import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { asymmetricQasm3 } from '../support/jobs/builders.js'
import type { Raised } from '../support/jobs/marqov.js'
import type { Scene } from './scene.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

export function checkScripts(scene: () => Scene): void {
  const there = (more: Record<string, unknown> = {}) => ({ ...scene().there, code: asymmetricQasm3(), ...more })
  const run = <T>(code: string, more: Record<string, unknown> = {}) => scene().python.run<T>(code, there(more))
  const refusal = (code: string, more: Record<string, unknown> = {}): Promise<Raised> =>
    scene().python.refusal(code, there(more))
  const save = (more: Record<string, unknown> = {}): Promise<string> =>
    run('return connect(url, key).save_script(code, name="asymmetric")["script_id"]', more)

  test('a script is saved once for the same key, shows its hash, and runs as analysed', async () => {
    const outcome = await run<Record<string, Record<string, unknown>>>(
      `
      client = connect(url, key)
      save = lambda: client.save_script(code, name="n", idempotency_key="op-1")
      first, second = save(), save()
      script = first["script_id"]
      options = client.script_execution_options(script)
      analysis = client.analyse_script(script, content=code, backend="marqov-sim")
      job = client.submit_script(script, backend="marqov-sim", analysis_id=analysis["analysis_id"])
      return {
          "scripts": {"first": script, "second": second["script_id"]}, "options": options, "analysis": analysis,
          "job": {"counts": job.result(60, poll_interval=0.1).counts, "id": job.id},
      }
      `
    )
    const { scripts, options, analysis, job } = outcome
    expect(scripts!.first).toMatch(UUID)
    expect(scripts!.first).toBe(scripts!.second)
    expect(options).toMatchObject({
      script_id: scripts!.first,
      source_sha256: sha256(asymmetricQasm3()),
      team: { id: scene().teamId }
    })
    expect(options!.destinations).toContainEqual(expect.objectContaining({ backend: 'marqov-sim', available: true }))
    expect(analysis).toMatchObject({ can_run: true, cost: { total_usd: 0 } })
    expect(analysis!.analysis_id).toMatch(UUID)
    expect(job!.counts).toEqual({ '100': 1000 })
    expect(await scene().ask('GET', `/api/jobs/${job!.id}`)).toMatchObject({
      script_id: scripts!.first,
      source: { kind: 'script', script_id: scripts!.first, script_version: 1, sha256: sha256(asymmetricQasm3()) }
    })
  })

  test('a script that has changed since its analysis does not run', async () => {
    const script = await save()
    const { analysis_id } = await run<{ analysis_id: string }>(
      'return connect(url, key).analyse_script(script, content=code, backend="local", shots=10)',
      { script }
    )
    const submit = 'connect(url, key).submit_script(script, backend="local", analysis_id=analysis, shots=10)'
    const names = { script, analysis: analysis_id }
    expect(await run(`return ${submit}.result(60, poll_interval=0.1).counts`, names)).toEqual({ '100': 10 })
    await scene().ask('PATCH', `/api/scripts/${script}`, { script_content: `${asymmetricQasm3()}// changed\n` })
    expect(await refusal(submit, names)).toMatchObject({
      type: 'MarqovPlatformError',
      code: 'analysis_mismatch',
      status: 409
    })
    const analyse = 'connect(url, key).analyse_script(script, content=code, backend="local", shots=10)'
    expect(await refusal(analyse, { script })).toMatchObject({ type: 'MarqovPlatformError', code: 'analysis_mismatch' })
  })

  describe('a request about scripts is refused with a code:', () => {
    test.each([
      [
        'source that is not Python',
        'save_script("from marqov import Circuit\\ndef f(:", name="n")',
        'InvalidProgram',
        'validation_error'
      ],
      ['an unknown script', 'script_execution_options(other)', 'MarqovPlatformError', 'not_found'],
      [
        'an analysis of one that does not exist',
        'analyse_script(other, content=code, backend="local")',
        'MarqovPlatformError',
        'not_found'
      ],
      [
        'an analysis for a backend that does not exist',
        'analyse_script(script, content=code, backend="nope")',
        'BackendUnavailable',
        'backend_unknown'
      ],
      [
        'a job of one that does not exist',
        'submit_script(other, backend="local", analysis_id=other)',
        'MarqovPlatformError',
        'not_found'
      ],
      [
        'a job by an analysis that does not exist',
        'submit_script(script, backend="local", analysis_id=other)',
        'MarqovPlatformError',
        'analysis_mismatch'
      ]
    ])('%s', async (_name, call, type, code) => {
      const names = { script: await save(), other: randomUUID() }
      expect(await refusal(`connect(url, key).${call}`, names)).toMatchObject({ type, code })
    })

    test('everything with a key of another team, as for an unknown script', async () => {
      const other = await scene().newKey('simulate', { team_id: await scene().newTeam() })
      const names = { script: await save(), key: other }
      for (const call of ['script_execution_options(script)', 'analyse_script(script, content=code, backend="local")'])
        expect(await refusal(`connect(url, key).${call}`, names)).toMatchObject({ code: 'not_found', status: 404 })
    })

    test('saving with a read-only key', async () => {
      const names = { key: await scene().newKey('read') }
      expect(await refusal('connect(url, key).save_script(code, name="n")', names)).toMatchObject({
        type: 'PermissionTierError',
        code: 'permission_denied'
      })
    })
  })
}
