// What the pages weigh: scripts and styles in KB of brotli, as they are served. docs/console.md has the table.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { grantPlatformAdmin } from '../../../db/accounts/accounts.js'
import { browserTest } from '../../support/browser/browser-test.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { post, sessionOf } from '../capsules/actions.js'
import { capsuleOfJob } from '../capsules/walk.js'
import { sceneOfFile, signing } from '../scene.js'
import { changed, saved } from '../scripts/pages.js'

const scene = sceneOfFile({}, signing)

/** In KB. Both include the shell. */
const SHELL_MAX = 200
const PLAYGROUND_MAX = 320
/** Of each page of scripts, capsules, team and administration, beyond the shell. */
const PAGE_MAX = 80
/** Pages that miss it: the editor of the playground alone weighs more. None of them may get heavier. */
const missed: Readonly<Record<string, number>> = {
  '/scripts/new': 93,
  '/scripts/ID': 104,
  '/scripts/ID, versions': 101
}
/** So much may a figure of the table be off, in KB. */
const STALE_MAX = 5

const kilobytes = (path: string): number => {
  const file = join(projectRoot, 'dist/console', path)
  return statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size / 1024
}

/** The scripts and styles that a page has loaded once it is complete. Those of workers are no part of it. */
async function loaded(page: Page, path: string): Promise<Set<string>> {
  await page.goto(`${scene.platform.url()}${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (path === '/run' || path.startsWith('/scripts/'))
    await page.locator('.cm-content, .cm-mergeView').first().waitFor()
  await page.waitForLoadState('networkidle', { timeout: 30_000 }).catch(() => {})
  await page.getByText('Loading…').waitFor({ state: 'detached' })
  const names = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"
  )
  return new Set(names.filter((name) => /\.(js|css)$/.test(name) && !name.startsWith('/assets/workers/')))
}

const weightOf = (names: Iterable<string>): number => [...names].reduce((sum, name) => sum + kilobytes(name), 0)

/** Pages with one of everything. */
async function pagesOf(page: Page): Promise<Record<string, string>> {
  const capsule = await capsuleOfJob(page, scene, 'Weighed')
  await post(page, scene, `/api/capsules/${capsule}/seal`, { exit_code: 0 })
  const about = { title: 'Weighed', description: 'd', readme: '# A readme' }
  const { publication } = await post<{ publication: { slug: string } }>(
    page,
    scene,
    `/api/capsules/${capsule}/publish`,
    about
  )
  const script = await saved(page, scene)
  await changed(page, scene, script, { script_content: `${bellQasm3()}\n` })
  const { teams } = await sessionOf(page, scene)
  const parts = ['members', 'invitations', 'credentials', 'keys', 'webhooks', 'budget', 'usage', 'retention']
  const admin = ['system', 'money', 'teams', 'users', 'jobs', 'access-codes', 'backends', 'capsules', 'audit']
  return {
    '/scripts': '/scripts',
    '/scripts/new': '/scripts/new',
    '/scripts/ID': `/scripts/${script}`,
    '/scripts/ID, versions': `/scripts/${script}?tab=versions`,
    '/capsules': '/capsules',
    '/capsules/ID': `/capsules/${capsule}`,
    '/capsules/ID, verifications': `/capsules/${capsule}?tab=verifications`,
    '/capsules/ID, schedule': `/capsules/${capsule}?tab=schedule`,
    '/public': '/public',
    '/public/SLUG': `/public/${publication.slug}`,
    ...Object.fromEntries(parts.map((part) => [`/team/${part}`, `/team/${part}`])),
    '/profile': '/profile',
    '/audit': '/audit',
    ...Object.fromEntries(admin.map((part) => [`/admin/${part}`, `/admin/${part}`])),
    '/admin/teams/ID': `/admin/teams/${teams[0]!.id}`
  }
}

/** The rows of the table in docs/console.md, in KB. */
const documented = (): Record<string, number> =>
  Object.fromEntries(
    [
      ...readFileSync(join(projectRoot, 'docs/console.md'), 'utf8').matchAll(/^\| (.+?) \| (\d+) KB(?:: missed)? \|$/gm)
    ].map(([, name, weight]) => [name!.replaceAll('`', ''), Number(weight)])
  )

browserTest(
  'the shell, the playground and each page of scripts, capsules, team and administration weigh what docs/console.md says',
  scene.visit(async (visit) => {
    const { page } = visit
    const { email } = await scene.signUp(visit)
    await grantPlatformAdmin(scene.platform.connection.db, email)
    const pages = await pagesOf(page)
    const files = new Map<string, Set<string>>()
    for (const [name, path] of Object.entries(pages)) files.set(name, await loaded(page, path))
    // The shell is what all of them have.
    const [first, ...others] = files.values()
    const shell = new Set([...first!].filter((file) => others.every((loadedThere) => loadedThere.has(file))))
    const weights: Record<string, number> = {
      'the shell': weightOf(shell),
      '/run': weightOf(await loaded(page, '/run'))
    }
    for (const [name, own] of files) weights[name] = weightOf([...own].filter((file) => !shell.has(file)))
    console.info(
      `KB of brotli: ${Object.entries(weights)
        .map(([name, weight]) => `${name} ${weight.toFixed(1)}`)
        .join(', ')}`
    )
    const limits: Readonly<Record<string, number>> = { 'the shell': SHELL_MAX, '/run': PLAYGROUND_MAX, ...missed }
    expect(Object.entries(weights).filter(([name, weight]) => weight > (limits[name] ?? PAGE_MAX))).toEqual([])
    expect(Object.keys(missed).filter((name) => weights[name]! <= PAGE_MAX)).toEqual([])
    const table = documented()
    expect(Object.keys(table).toSorted()).toEqual(Object.keys(weights).toSorted())
    expect(Object.entries(weights).filter(([name, weight]) => Math.abs(weight - table[name]!) > STALE_MAX)).toEqual([])
  }),
  240_000
)
