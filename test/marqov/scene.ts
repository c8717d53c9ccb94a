// Shared by all checks of the public client: a platform, a second api with the specified rate limits, a team with keys, and
// the client in its Python process.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { StackContext } from '../../apps/cli/stack/parts/child.js'
import { type NodeApp, startNodeApp } from '../../apps/cli/stack/parts/node-app.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { Watchdog } from '../../apps/cli/stack/watchdog.js'
import { grantPlatformAdmin } from '../../db/accounts/accounts.js'
import { type PythonClient, startPythonClient } from '../support/jobs/marqov.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

export type Tier = 'read' | 'simulate' | 'qpu'

/** A backend that costs a cent per shot here. */
export const PAID = 'aer-mps'

export interface Scene {
  platform: Platform
  python: PythonClient
  teamId: string
  /** The address of an api without rate limits and a key, the arguments of every Python body. */
  there: { url: string; key: string }
  /** The api with the specified rate limits, whose port stays the same after a restart. */
  limited: { url: string; restart(): Promise<void> }
  /** Creates a team with its own keys. */
  newTeam(): Promise<string>
  newKey(tier: Tier, more?: Record<string, unknown>): Promise<string>
  /** Sends a request as the team's owner, who is also platform administrator. @throws Error unless it succeeds. */
  ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** The number of the team's jobs. */
  jobs(teamId: string): Promise<number>
  close(): Promise<void>
}

export async function startScene(): Promise<Scene> {
  const platform = await startPlatform('marqov')
  const python = startPythonClient()
  const ask: Scene['ask'] = async (method, path, body) => {
    const answer = await platform.call(method, path, body)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
  const newTeam = async () => (await ask('POST', '/api/teams', { name: 'users of the public client' })).id as string
  const teamId = await newTeam()
  const newKey: Scene['newKey'] = async (tier, more = {}) => {
    const key = { team_id: teamId, name: 'a key', kind: 'live', tier, ...more }
    return (await ask('POST', '/api/team/api-keys', key)).key as string
  }
  const limited = await startLimitedApi(platform)
  await grantPlatformAdmin(platform.connection.db, 'ada@example.org')
  await ask('PATCH', `/api/admin/backends/${PAID}`, { pricing: { perShot: 0.01 } })
  // Its imports are done when it responds.
  await python.run('return None')
  return {
    platform,
    python,
    teamId,
    there: { url: platform.url(), key: await newKey('simulate') },
    limited,
    newTeam,
    newKey,
    ask,
    jobs: async (team) => (await ask('GET', `/api/jobs?team_id=${team}&limit=1`)).total as number,
    async close() {
      await Promise.all([python.close(), limited.close()])
      await platform.close()
    }
  }
}

async function startLimitedApi(platform: Platform) {
  const folder = join(projectRoot, '.test', 'platforms', `${platform.settings.QUEUE_PREFIX}-limited`)
  mkdirSync(folder, { recursive: true })
  const watchdog = new Watchdog()
  const ending = new AbortController()
  const context: StackContext = { logFile: (part) => join(folder, `${part}.log`), watchdog, signal: ending.signal }
  const env = { ...platform.settings, RATE_LIMIT_SCALE: '1' }
  const start = (port?: number): Promise<NodeApp> =>
    startNodeApp({ name: 'api', env, portVariable: 'PORT', probeHost: '127.0.0.1', ...(port && { port }) }, context)
  let api = await start()
  return {
    url: `http://127.0.0.1:${api.port}`,
    async restart() {
      await api.stop()
      api = await start(api.port)
    },
    async close() {
      api.kill()
      await api.exited
      watchdog.close()
    }
  }
}
