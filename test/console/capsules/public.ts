// The check of a signature in the browser: it holds, it names the file that was changed, and it says where it cannot be done.
import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { pack } from 'tar-stream'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'
import { post } from './actions.js'
import { capsuleOfJob } from './walk.js'

async function published(page: Page, scene: Scene, title: string): Promise<string> {
  const id = await capsuleOfJob(page, scene, title)
  await post(page, scene, `/api/capsules/${id}/seal`, { exit_code: 0 })
  const { publication } = (await post(page, scene, `/api/capsules/${id}/publish`, {
    title,
    description: 'd'
  })) as unknown as { publication: { slug: string } }
  return publication.slug
}

const check = (page: Page) => page.getByRole('button', { name: 'Check it in this browser' }).click()

export function publicTests(scene: Scene): void {
  browserTest(
    'the signature holds; with one byte changed the file is named; another key, another capsule and a missing file are found',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const slug = await published(page, scene, 'To be checked')
      const other = await published(page, scene, 'Another one')
      await page.context().clearCookies()
      await page.setViewportSize({ width: 360, height: 740 })
      await open('/public')
      await page.getByRole('link', { name: 'To be checked' }).waitFor()
      await examine()
      await open(`/public/${slug}`)
      await check(page)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await page.getByText('The signature holds.').waitFor()
      await examine()

      const url = `${scene.platform.url()}/api/capsules/public/${slug}`
      const archive = await (await page.request.get(`${url}/export`)).body()
      const tar = gunzipSync(archive)
      const at = tar.indexOf('"counts"')
      expect(at).toBeGreaterThan(0)
      const changed = Buffer.from(tar)
      changed[at + 1]! ^= 1
      const answers = [
        { body: gzipSync(changed), says: /tasks\/main\/result\.json was changed/ },
        { body: flipped(archive), says: /This is not what was signed/ },
        { body: gzipSync(without(tar, 'result.json')), says: /tasks\/main\/result\.json is missing in the package/ },
        { body: archive.subarray(0, archive.length / 2), says: /This is not what was signed/ },
        { body: Buffer.from('nothing of a package'), says: /This is not what was signed/ }
      ]
      for (const { body, says } of answers) {
        await page.route('**/export**', (route) => route.fulfill({ body }), { times: 1 })
        await check(page)
        await page.getByRole('alert').filter({ hasText: says }).waitFor()
        expect(await page.getByText('The signature holds.').count()).toBe(0)
      }
      await page.route('**/api/meta/keys', (route) => route.fulfill({ json: { keys: [] } }), { times: 1 })
      await check(page)
      await page.getByRole('alert').filter({ hasText: 'not valid under any key' }).waitFor()
      const foreign = await (
        await page.request.get(`${scene.platform.url()}/api/capsules/public/${other}/attestation`)
      ).json()
      await page.route('**/attestation', (route) => route.fulfill({ json: foreign }), { times: 1 })
      await check(page)
      await page.getByRole('alert').filter({ hasText: 'another capsule was signed' }).waitFor()
    }),
    240_000
  )

  browserTest(
    'a package of 60 MiB is checked while it arrives, without holding all of it and without stopping the page',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const slug = await published(page, scene, 'As large as can be')
      await open(`/public/${slug}`)
      // As many bytes as a capsule can hold, none of which is what was signed: each is read and hashed all the same.
      const content = randomBytes(30 * 1024 * 1024)
      const tar = pack()
      for (const name of ['tasks/a/result.json', 'tasks/b/result.json']) tar.entry({ name: `large/${name}` }, content)
      tar.finalize()
      const pieces: Buffer[] = []
      for await (const piece of tar as AsyncIterable<Buffer>) pieces.push(piece)
      const body = gzipSync(Buffer.concat(pieces), { level: 1 })
      await page.route('**/export**', (route) => route.fulfill({ body }), { times: 1 })
      const session = await page.context().newCDPSession(page)
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      const metric = async (wanted: string) =>
        (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === wanted)!.value
      const [busy, begun] = [await metric('TaskDuration'), Date.now()]
      await check(page)
      await page
        .getByRole('alert')
        .filter({ hasText: 'tasks/b/result.json was never signed' })
        .waitFor({ timeout: 120_000 })
      const took = Date.now() - begun
      const heap = Math.round((await metric('JSHeapUsedSize')) / 1024 ** 2)
      const threadMs = Math.round(1_000 * ((await metric('TaskDuration')) - busy))
      console.info(`60 MiB: checked after ${took} ms, the page's thread busy for ${threadMs} ms, heap ${heap} MiB`)
      expect(threadMs).toBeLessThan(5_000)
    }),
    240_000
  )

  browserTest(
    'a browser without WebCrypto says so and gives the line for the terminal',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const slug = await published(page, scene, 'Without crypto')
      await page.addInitScript({ content: `Object.defineProperty(crypto, 'subtle', { value: undefined })` })
      await open(`/public/${slug}`)
      await page.getByText('This browser cannot check signatures here').waitFor()
      await page.getByText(/npx qjob capsule verify FILE\.capsule --id mqc:1:[0-9a-f]{64}/).waitFor()
      await examine()
    }),
    120_000
  )

  browserTest(
    'a stranger who signs in comes back to the capsule and clones it, and one that is taken down is not there',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const slug = await published(page, scene, 'To be cloned')
      await open('/public?q=cloned')
      await page.getByRole('link', { name: 'To be cloned' }).click()
      await page.getByRole('button', { name: 'Clone into my team' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Clone', exact: true }).click()
      await page.locator('[aria-current=step]').filter({ hasText: 'draft' }).waitFor()
      await page.context().clearCookies()
      await open(`/public/${slug}`)
      const link = page.getByRole('link', { name: 'Sign in to clone it' })
      expect(new URL((await link.getAttribute('href'))!, page.url()).searchParams.get('return_to')).toContain(
        `/public/${slug}`
      )
      await open('/public/no-such-capsule')
      await page.getByRole('alert').filter({ hasText: 'no published capsule has this slug' }).waitFor()
    }),
    180_000
  )
}

/** One byte of the compressed data. */
function flipped(archive: Buffer): Buffer {
  const copy = Buffer.from(archive)
  copy[Math.floor(copy.length / 2)]! ^= 0x10
  return copy
}

/** A tar without one of its files. */
function without(tar: Buffer, ending: string): Buffer {
  const kept: Buffer[] = []
  for (let at = 0; at < tar.length; ) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(tar.toString('ascii', at + 124, at + 136), 8) || 0
    const end = at + 512 + Math.ceil(size / 512) * 512
    if (!name.endsWith(ending)) kept.push(tar.subarray(at, end))
    at = end
  }
  return Buffer.concat(kept)
}
