// The pages of scripts in a real browser, against the real platform.
import { describe, expect } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { teams } from '../../../db/tables/accounts.js'
import { apiRequests } from '../../support/browser/api-requests.js'
import { browserTest } from '../../support/browser/browser-test.js'
import { startVisit, type Visit } from '../../support/browser/visit.js'
import { eventually } from '../../support/eventually.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { FRAMES, processorMs, scrollThrough } from '../live.js'
import { PASSWORD, sceneOfFile } from '../scene.js'
import { program, write } from '../support/playground-page.js'
import { changed, editorIsThere, press, read, saved } from './pages.js'
import { runTests } from './running.js'
import { playgroundToScriptTests } from './walk.js'

const scene = sceneOfFile()
const url = () => scene.platform.url()

type Verdict = true | string
interface Record_ {
  team_id: string
  version: number
  description: string
  script_content: string
  updated_at: string
  can: { update: Verdict; publish: Verdict; delete: Verdict }
}
const recordOf = (page: Page, id: string) => read<Record_>(page, scene, `/api/scripts/${id}`)

/** Another person, who may join a team; their faults count as those of the visit. */
async function other(beside: Page, act: (visit: Visit) => Promise<void>): Promise<void> {
  const visit = await startVisit(beside.context().browser()!, url)
  try {
    await act(visit)
    expect(visit.faults).toEqual([])
  } finally {
    await visit.close()
  }
}

async function join(visit: Visit, teamId: string): Promise<void> {
  await visit.open(`/invitations/${await scene.invite(teamId, `member-${teamId}@example.org`)}`)
  await visit.page.getByLabel('Password').fill(PASSWORD)
  await visit.page.getByRole('button', { name: 'Create the account and join' }).click()
  await visit.page.getByRole('heading', { level: 1, name: /^Jobs of/ }).waitFor()
}

/** What the page offers is what the service allows, and the rest has its words. */
async function shows(page: Page, id: string): Promise<Verdict[]> {
  await page.goto(`${url()}/scripts/${id}`)
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  const { can } = await recordOf(page, id)
  const remove = page.getByRole('button', { name: 'Delete', exact: true })
  await remove.waitFor()
  expect([can.delete, await remove.isEnabled()]).toEqual([can.delete, can.delete === true])
  const publish = page.getByRole('button', { name: 'Publish', exact: true })
  if ((await publish.count()) > 0) expect(await publish.isEnabled()).toBe(can.publish === true)
  if (can.update === true) await editorIsThere(page)
  else {
    await page.getByRole('tabpanel').getByText(can.update).waitFor()
    await page.getByRole('region', { name: 'Program' }).waitFor()
    expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  }
  for (const verdict of [can.delete]) if (verdict !== true) await page.getByText(verdict).first().waitFor()
  return [can.update, can.publish, can.delete]
}

describe('what may be done', () => {
  browserTest(
    'with a script, published or not, by its owner, a member, a stranger and in a suspended team is what its page offers',
    scene.visit(async (visit) => {
      const { page } = visit
      await scene.signUp(visit)
      const [draft, shown] = [await saved(page, scene), await saved(page, scene)]
      const { team_id } = await recordOf(page, draft)
      await page.request.post(`${url()}/api/scripts/${shown}/publish`)
      expect(await shows(page, draft)).toEqual([true, true, true])
      expect(await shows(page, shown)).toEqual([expect.any(String), true, expect.any(String)])
      await other(page, async (member) => {
        await join(member, team_id)
        for (const id of [draft, shown]) expect((await shows(member.page, id)).includes(true)).toBe(false)
      })
      await other(page, async (stranger) => {
        await scene.signUp(stranger)
        await stranger.open(`/scripts/${draft}`)
        await stranger.page.getByText('no such script').waitFor()
        expect((await shows(stranger.page, shown)).includes(true)).toBe(false)
        await press(stranger.page, 'Run')
        await stranger.page.getByText(/Estimated cost/).waitFor()
        expect(await stranger.page.getByRole('dialog').getByRole('button', { name: 'Run' }).isEnabled()).toBe(true)
      })
      await page.goto(`${url()}/scripts/${draft}`)
      await editorIsThere(page)
      const { db } = scene.platform.connection
      await db.update(teams).set({ suspendedAt: new Date(), suspendedReason: 'unpaid' }).where(eq(teams.id, team_id))
      // The page does not know yet: the press says so, and what was typed stays.
      await write(page, 'OPENQASM 3.0;\nqubit q;\n')
      await press(page, 'Save')
      await page
        .getByText(/suspended/)
        .first()
        .waitFor()
      expect(await program(page).textContent()).toContain('qubit q;')
      for (const id of [draft, shown]) expect((await shows(page, id)).includes(true)).toBe(false)
    })
  )
})

describe('two people at once', () => {
  browserTest(
    'who save the same script both keep what they typed, and see what the other did',
    scene.visit(async (visit) => {
      const { page } = visit
      const { email } = await scene.signUp(visit)
      const id = await saved(page, scene)
      await other(page, async ({ page: second, open }) => {
        await open('/sign-in')
        await second.getByLabel('Email').fill(email)
        await second.getByLabel('Password').fill(PASSWORD)
        await second.getByRole('button', { name: 'Sign in', exact: true }).click()
        await second.getByRole('heading', { level: 1, name: /^Jobs/ }).waitFor()
        for (const one of [page, second]) {
          await one.goto(`${url()}/scripts/${id}`)
          await editorIsThere(one)
        }
        await write(page, `${bellQasm3()}// of the first\n`)
        await second.getByLabel('Description (optional)').fill('of the second')
        await write(second, `${bellQasm3()}// of the second\n`)
        await press(page, 'Save')
        await page.getByText('Saved as version 2.').waitFor()
        await press(second, 'Save')
        await second.getByText('This script was changed elsewhere while you typed').waitFor()
        expect(await program(second).textContent()).toContain('// of the second')
        await press(second, 'Show what differs')
        await second.getByLabel('From the saved source to what you typed').getByText('// of the first').waitFor()
        await press(second, 'Keep what I typed, on top of it')
        await press(second, 'Save')
        await second.getByText('Saved as version 3.').waitFor()
        const record = await recordOf(second, id)
        expect([record.version, record.description]).toEqual([3, 'of the second'])
        expect(record.script_content).toContain('// of the second')
        const kept = await read<Record_>(second, scene, `/api/scripts/${id}/versions/2`)
        expect(kept.script_content).toContain('// of the first')
      })
    })
  )

  browserTest(
    'a script that is published, or deleted, elsewhere while someone types takes nothing of what was typed',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const ids = [await saved(page, scene), await saved(page, scene)]
      for (const [at, id] of ids.entries()) {
        await open(`/scripts/${id}`)
        await editorIsThere(page)
        await write(page, 'OPENQASM 3.0;\nqubit[7] mine;\n')
        const path = `${url()}/api/scripts/${id}`
        await (at === 0 ? page.request.post(`${path}/publish`) : page.request.delete(path))
        await press(page, 'Save')
        await page
          .getByText(at === 0 ? 'This script is published' : 'no such script')
          .first()
          .waitFor()
        expect(await program(page).textContent()).toContain('qubit[7] mine;')
        await press(page, 'Copy into a new script')
        await page.getByRole('heading', { level: 1, name: /^New script/ }).waitFor()
        await editorIsThere(page)
        expect(await program(page).textContent()).toContain('qubit[7] mine;')
        await press(page, 'Discard what is not saved')
      }
    })
  )
})

describe('what is typed', () => {
  browserTest(
    'stays through refusals, 429, 503 and visits of other pages, and is sent once',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await saved(page, scene)
      const windows = await saved(page, scene, { script_content: bellQasm3().replaceAll('\n', '\r\n') })
      await open(`/scripts/${windows}`)
      await editorIsThere(page)
      await page.getByLabel('Description (optional)').fill('typed')
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isEnabled()).toBe(true)
      await page.getByLabel('Description (optional)').fill('')
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
      await open(`/scripts/${id}`)
      await editorIsThere(page)
      await write(page, `${bellQasm3()}// typed\n`)
      await page.getByRole('tab', { name: 'Jobs' }).click()
      await page.getByText('No job of this team has run it.').waitFor()
      await page.getByRole('link', { name: 'Backends' }).click()
      await page.getByRole('heading', { level: 1, name: 'Backends' }).waitFor()
      await page.goBack()
      await page.getByRole('tab', { name: 'Source' }).click()
      await editorIsThere(page)
      expect(await program(page).textContent()).toContain('// typed')
      const answers = [
        { status: 429, headers: { 'retry-after': '1' }, json: { error: 'Too many changes' } },
        { status: 503, json: { error: 'The execution service is not configured' } },
        { status: 400, json: { error: 'script_content: <b>no</b>', errors: [] } },
        { status: 500, body: 'not JSON at all' }
      ]
      const keys: (string | undefined)[] = []
      await page.route(`**/api/scripts/${id}`, async (route) => {
        if (route.request().method() !== 'PATCH') return route.continue()
        keys.push(route.request().headers()['idempotency-key'])
        const answer = answers.shift()
        await (answer ? route.fulfill(answer) : route.continue())
      })
      await press(page, 'Save')
      await page.getByText('The execution service is not configured').waitFor()
      await press(page, 'Save')
      await page.getByText('<b>no</b>').waitFor()
      await press(page, 'Save')
      await page.getByText('The service returned 500 without a reason').waitFor()
      expect(await program(page).textContent()).toContain('// typed')
      await press(page, 'Save')
      await page.getByText('Saved as version 2.').waitFor()
      expect(new Set(keys).size).toBe(1)
    })
  )

  browserTest(
    'of any content is shown as text: names, descriptions, code, requirements and parameters',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const corpus = [
        '<img src=x onerror="document.title=1"><script>document.title=2</script>"\'`{{7*7}}javascript:alert(1)\u202e',
        '</textarea></title><svg onload=alert(1)>',
        '\u202eright to left\u2066 a\u0301\u0301\u0301\u0301\u0301',
        'x'.repeat(200)
      ]
      for (const [at, text] of corpus.entries()) {
        const code = `# ${text}\ndef main(shots, __proto__=1, constructor=2, ${'a'.repeat(60)}=${JSON.stringify(text)}):\n    return {}\n`
        const id = await saved(page, scene, { name: text, description: text.repeat(4), script_content: code })
        await changed(page, scene, id, { script_content: `${code}# more\n`, requirements: 'numpy' })
        await open('/scripts?kind=own')
        await page.getByRole('link', { name: text }).first().waitFor()
        await open(`/scripts/${id}`)
        await editorIsThere(page)
        await page.getByRole('tab', { name: 'Versions' }).click()
        await page.getByLabel('From version 1 to version 2').getByText('# more').waitFor()
        await press(page, 'Run')
        await page.getByText(/Estimated cost/).waitFor()
        await page.getByLabel('a'.repeat(60)).fill(text)
        await press(page, 'Close')
        expect(await page.locator('main img, main script, main svg[onload]').count()).toBe(0)
        expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
        if (at === 0) await examine()
        await page.request.delete(`${url()}/api/scripts/${id}`)
      }
    })
  )
})

describe('running', () => runTests(scene))
describe('from the playground', () => playgroundToScriptTests(scene))

describe('the pages', () => {
  browserTest(
    'work by keyboard alone: written, saved, run and deleted',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const { keyboard } = page
      await scene.signUp(visit)
      const focused = () =>
        page.evaluate<string>(
          `(() => { const e = document.activeElement; return e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent })()`
        )
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 60; presses++) {
          await keyboard.press('Tab')
          if ((await focused()).trim() === name) return
        }
        throw new Error(`Tab does not reach ${name}, but ${await focused()}`)
      }
      await open('/scripts/new')
      await editorIsThere(page)
      await tabTo('Name')
      await keyboard.type('By keys')
      await tabTo('Program')
      await keyboard.type('OPENQASM 3.0;\nqubit q;\nbit c;\nc = measure q;\n')
      await tabTo('Save')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'By keys' }).waitFor()
      await tabTo('Run')
      await keyboard.press('Enter')
      await page
        .getByRole('dialog')
        .getByText(/Estimated cost/)
        .waitFor()
      await keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await tabTo('Source')
      await keyboard.press('ArrowRight')
      await page.getByRole('region', { name: 'Versions' }).waitFor()
      await page.getByRole('button', { name: 'Delete', exact: true }).focus()
      await keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Delete this script?' }).waitFor()
      await tabTo('Delete for good')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Scripts' }).waitFor()
    })
  )

  browserTest(
    'work at 360 pixels in the dark, with at most eight requests each',
    scene.visit(
      async (visit) => {
        const { page, open, examine } = visit
        await scene.signUp(visit)
        const id = await saved(page, scene, { name: 'a_name_without_any_space_'.repeat(8), description: 'narrow' })
        await changed(page, scene, id, { script_content: `${bellQasm3()}// ${'wide '.repeat(60)}\n` })
        const requests = apiRequests(page)
        const looks = async () => {
          await examine()
          expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
          expect(requests.size <= 8 ? [] : [...requests]).toEqual([])
        }
        const paths = [
          ['/scripts', 'columnheader', 'Framework'],
          ['/scripts/new', 'textbox', 'Program'],
          [`/scripts/${id}`, 'textbox', 'Program'],
          [`/scripts/${id}?tab=jobs`, 'heading', /^a_name/],
          [`/scripts/${id}?tab=versions`, 'button', 'Next difference']
        ] as const
        for (const [path, role, name] of paths) {
          await page.goto('about:blank')
          requests.clear()
          await open(path)
          await page.getByRole(role, { name }).first().waitFor()
          await looks()
        }
        requests.clear()
        await press(page, 'Run')
        await page.getByText(/Estimated cost/).waitFor()
        await looks()
        await press(page, 'Close')
        for (const name of ['Publish', 'Delete']) {
          await press(page, name)
          await page.getByRole('dialog').waitFor()
          await looks()
          await press(page, 'Cancel')
        }
      },
      { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }
    )
  )

  browserTest(
    'compare two versions of a megabyte without holding the page up',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const lines = Array.from({ length: 40_000 }, (_, line) => `# a line of ${line}\n`)
      const source = (mark: string) => `${lines.join('')}x = "${mark}"\n${lines.join('')}`.slice(0, 1_048_000)
      const id = await saved(page, scene, { script_content: source('before') })
      await changed(page, scene, id, { script_content: source('after') })
      await open(`/scripts/${id}`)
      await editorIsThere(page)
      const worked = await processorMs(page, async () => {
        await page.getByRole('tab', { name: 'Versions' }).click()
        await page.getByRole('button', { name: 'Next difference' }).click()
        await page.getByLabel('From version 1 to version 2').getByText('"after"').waitFor()
      })
      expect(worked).toBeLessThan(3_000)
    })
  )

  browserTest(
    'a list of a thousand scripts has only the rows near the window, and all of them as it is scrolled',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await saved(page, scene, { name: 'the oldest' })
      const { db } = scene.platform.connection
      await db.execute(sql`insert into scripts (id, team_id, user_id, slug, name, description, script_type, category,
          framework, content, source_sha256, metadata)
        select (substr(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, team_id, user_id, 'copy-' || n, 'copy ' || n,
          description, script_type, category, framework, content, source_sha256, metadata
        from scripts, generate_series(1, 998) n where id = ${id}`)
      await open('/scripts?kind=own')
      await page.getByText('100 of 999 scripts').waitFor()
      expect(await page.locator('tbody tr').count()).toBeLessThan(80)
      await eventually(async () => {
        await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)')
        return (await page.getByText('999 of 999 scripts').count()) === 1
      })
      expect(await page.locator('tbody tr').count()).toBeLessThan(80)
      expect(await processorMs(page, () => page.evaluate(scrollThrough))).toBeLessThan(50 * FRAMES)
    })
  )
})
