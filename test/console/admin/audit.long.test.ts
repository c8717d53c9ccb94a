// The audit trail of a team in a real browser, against the real scene.platform.
import { expect } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Visit } from '../../support/browser/visit.js'
import { append } from '../../support/capsules/audit-trails.js'
import { eventually } from '../../support/eventually.js'
import { processorMs } from '../live.js'
import { sceneOfFile } from '../scene.js'

const ENTRIES = 100_000
const FRAMES = 40

const scene = sceneOfFile()
const db = () => scene.platform.connection.db

/** A signed-in visitor with a team. @returns both ids. */
async function member(visit: Visit) {
  await scene.signUp(visit)
  const made = await visit.page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'Trail' } })
  const { id: teamId } = (await made.json()) as { id: string }
  const session = await visit.page.request.get(`${scene.platform.url()}/api/auth/session`)
  const { user } = (await session.json()) as { user: { id: string } }
  return { teamId, userId: user.id }
}

browserTest(
  'entries are shown with their actors by name, filtered by action, time and number, and opened whole',
  scene.visit(async (visit) => {
    const { page, open, examine } = visit
    const { teamId, userId } = await member(visit)
    await page.request.patch(`${scene.platform.url()}/api/profile`, { data: { display_name: 'Ada <b>L</b>' } })
    const gone = '00000000-0000-4000-8000-000000000001'
    const actors = [`user:${userId}`, `user:${gone}`, `admin:${gone}`, 'system']
    for (const actor of actors)
      await append(db(), { teamId, actor, metadata: { note: '<img src=x onerror=alert(1)>' } })
    await append(db(), { teamId, action: 'capsule.archived', actor: `user:${userId}` })
    await open(`/audit?team=${teamId}`)
    await page.getByText('5 entries are read, all there are').waitFor()
    for (const name of ['Ada <b>L</b>', 'a user who is not known any more', 'a platform administrator', 'the service'])
      await page.getByRole('cell', { name, exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Open entry 1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Entry 1' })
    await dialog.getByText('"note": "<img src=x onerror=alert(1)>"').waitFor()
    await dialog.getByText('0'.repeat(64)).waitFor()
    await examine()
    await page.keyboard.press('Escape')
    await page.getByLabel('Action').selectOption('capsule.archived')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('1 entry is read, all there are').waitFor()
    expect(new URL(page.url()).searchParams.get('action')).toBe('capsule.archived')
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByLabel('Up to entry').fill('2')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('2 entries are read').waitFor()
    await open(`/audit?team=${teamId}&from=2999-01-01T00:00:00Z`)
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
    await open(`/audit?team=${teamId}&action=nonsense`)
    await page
      .getByRole('alert')
      .getByText(/^action: /)
      .waitFor()
    await page.setViewportSize({ width: 360, height: 740 })
    await open(`/audit?team=${teamId}`)
    await page.getByText('5 entries are read').waitFor()
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360)
  })
)

browserTest(
  'a trail is proved with its head and the checkpoints outside; once an entry is changed, the first broken one is opened',
  scene.visit(async (visit) => {
    const { page, open, examine } = visit
    const { teamId, userId } = await member(visit)
    for (let more = 0; more < 4; more++) await append(db(), { teamId, actor: `user:${userId}` })
    await open(`/audit?team=${teamId}`)
    await page.route('**/api/team/audit/verify?*', async (route) => {
      await page.getByText(/the proof begins, \d+ s/).waitFor()
      await route.continue()
    })
    await page.getByRole('button', { name: 'Prove it' }).click()
    await page.getByText('The trail holds: 4 entries.').waitFor()
    const verified = await page.request.get(`${scene.platform.url()}/api/team/audit/verify?team_id=${teamId}`)
    const { head, checkpoints_outside } = (await verified.json()) as {
      head: { hash: string }
      checkpoints_outside: { reason: string }
    }
    await page.getByText(head.hash).waitFor()
    await page.getByText(`Not compared: ${checkpoints_outside.reason}`).waitFor()
    await examine()
    await db().transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update audit_entries set actor = 'system' where team_id = ${teamId} and seq = 3`)
    })
    await page.getByRole('button', { name: 'Prove it' }).click()
    const dialog = page.getByRole('dialog', { name: 'Entry 3' })
    await dialog.getByText(/the entry was changed/).waitFor()
    await dialog.getByText('the service').waitFor()
    await examine()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText(/^The trail was changed\. The first entry that is not as it was written is 3: /).waitFor()
    await db().transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`delete from audit_entries where team_id = ${teamId} and seq = 2`)
    })
    await page.getByRole('button', { name: 'Prove it' }).click()
    await page.getByRole('dialog', { name: 'Entry 2' }).getByText('The trail has no entry with this number.').waitFor()
  })
)

browserTest(
  'a refused proof stands on the page in the words of the service, and another team is not asked for',
  scene.visit(async (visit) => {
    const { page, open } = visit
    const { teamId } = await member(visit)
    await open(`/audit?team=${teamId}`)
    await page.route('**/api/team/audit/verify?*', (route) =>
      route.fulfill({ status: 503, json: { error: 'the trail cannot be read' } })
    )
    await page.getByRole('button', { name: 'Prove it' }).click()
    await page.getByRole('alert').getByText('the trail cannot be read').waitFor()
    await open('/audit?team=00000000-0000-4000-8000-000000000000')
    await page.getByRole('heading', { name: 'You do not belong to the team of this address' }).waitFor()
  })
)

browserTest(
  'a proof says how far it is while entries are checked',
  scene.visit(async ({ page, open, ...visit }) => {
    const { teamId } = await member({ page, open, ...visit })
    await open(`/audit?team=${teamId}`)
    const body = 'event: progress\ndata: {"entries":1000,"of":4000}\n\n'
    // The service says so in the middle of a proof, which then takes as long as this stream is open.
    await page.route('**/api/team/audit/verify?*', (route) =>
      route.request().resourceType() === 'eventsource'
        ? route.fulfill({ status: 200, contentType: 'text/event-stream', body })
        : undefined
    )
    await page.getByRole('button', { name: 'Prove it' }).click()
    await page.getByText(/1,000 of 4,000 entries are proved with their checkpoints and seals, \d+ s$/).waitFor()
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('1000')
  })
)

browserTest(
  'a trail of 100,000 entries is read page by page as it is scrolled to, few of its rows are on the page, and no frame is slow',
  scene.visit(async (visit) => {
    const { page, open } = visit
    const { teamId, userId } = await member(visit)
    await db().execute(sql`insert into audit_entries
        (team_id, seq, action, actor, at, metadata, prev_hash, hash)
      select ${teamId}::uuid, n, 'capsule.run', ${`user:${userId}`}, to_char(timestamp '2026-01-01' + n * interval '1 minute',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '{}', repeat('0', 64), repeat('0', 64)
      from generate_series(1, ${ENTRIES}) n`)
    const gets: string[] = []
    page.on('request', (request) => void (request.url().includes('/api/team/audit') && gets.push(request.url())))
    await open(`/audit?team=${teamId}`)
    await page.getByRole('button', { name: `Open entry ${ENTRIES}` }).waitFor()
    await page.getByText('100 entries are read; there are older ones').waitFor()
    expect(gets.length).toBe(1)
    await eventually(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      // The next page can be read before this look at the number.
      return page.getByText(/\b[3-9],\d00 entries are read/).isVisible()
    })
    expect(await page.getByRole('row').count()).toBeLessThan(100)
    let slowest = 0
    for (let step = 0; step < FRAMES; step++) {
      const jump = `(async () => {
        scrollTo(0, (document.body.scrollHeight / ${FRAMES}) * ${step})
        await new Promise((resolve) => requestAnimationFrame(resolve))
        await new Promise((resolve) => requestAnimationFrame(resolve))
      })()`
      slowest = Math.max(slowest, await processorMs(page, () => page.evaluate(jump)))
    }
    // Two frames.
    expect(slowest).toBeLessThan(100)
    await page.evaluate('scrollTo(0, 0)')
    await page.getByLabel('Up to entry').fill('37')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByRole('button', { name: 'Open entry 37' }).waitFor()
    await page.getByText('37 entries are read, all there are').waitFor()
  }),
  180_000
)
