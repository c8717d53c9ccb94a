// Texts of others on the pages of capsules: nothing of them runs, is fetched, is styled or leads away unmarked.
import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'
import { post } from './actions.js'
import { capsuleOfJob } from './walk.js'

/** Known ways around sanitisers of HTML and Markdown. */
const bypasses = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '<svg><script>window.hacked = 1</script></svg>',
  '<svg/onload=window.hacked=1>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=1&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=window.hacked=1>">',
  '<a href="javascript:window.hacked=1">a</a>',
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '<object data="data:text/html,<script>parent.hacked=1</script>"></object>',
  '<style>body{display:none}</style>',
  '<link rel="stylesheet" href="https://foreign.example/x.css">',
  '<meta http-equiv="refresh" content="0;url=https://foreign.example">',
  '<base href="https://foreign.example/">',
  '<form action="https://foreign.example"><button>send</button></form>',
  '<input autofocus onfocus="window.hacked=1">',
  '<details open ontoggle="window.hacked=1">x</details>',
  '<div style="position:fixed;inset:0">over everything</div>',
  '[js](javascript:window.hacked=1)',
  '[js](JaVaScRiPt:window.hacked=1)',
  '[js](java\tscript:window.hacked=1)',
  '[js](&#106;avascript:window.hacked=1)',
  '[js](\u0001javascript:window.hacked=1)',
  '[data](data:text/html,<script>window.hacked=1</script>)',
  '[vb](vbscript:window.hacked=1)',
  '![picture](https://foreign.example/pixel.png)',
  '![picture](javascript:window.hacked=1)',
  '![x][ref]\n\n[ref]: https://foreign.example/ref.png "title"',
  '[x]: javascript:window.hacked=1\n\n[x]',
  '<https://foreign.example/auto>',
  '<javascript:window.hacked=1>',
  'https://foreign.example/bare',
  '[title](https://foreign.example "\\" onmouseover=\\"window.hacked=1")',
  '| a | b |\n|---|---|\n| <img src=x onerror=window.hacked=1> | [x](javascript:window.hacked=1) |',
  '- [ ] task <input onclick=window.hacked=1>',
  '```html\n<script>window.hacked = 1</script>\n```',
  '[^1]\n\n[^1]: <img src=x onerror=window.hacked=1>',
  '<a id="root">clobber</a>\n\n<a name="page">clobber</a>'
]

const names = [
  '<img src=x onerror="window.hacked=1">',
  '\u202Eelpmaxe\u202C " onmouseover="window.hacked=1',
  '{{constructor.constructor("window.hacked=1")()}}',
  `${'x'.repeat(190)}é`
]

export function hostileTests(scene: Scene): void {
  browserTest(
    'a readme with the known bypasses of sanitisers runs nothing, fetches nothing, hides nothing, and marks every link',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const id = await capsuleOfJob(page, scene, 'Hostile readme')
      await post(page, scene, `/api/capsules/${id}/seal`, { exit_code: 0 })
      await open(`/capsules/${id}`)
      await page.getByRole('button', { name: 'Publish', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Title').fill('</title><script>window.hacked=1</script>')
      await dialog.getByLabel('Description').fill('"><script>window.hacked=1</script> $& NONCE_OF_THIS_RESPONSE')
      await dialog
        .getByLabel('Readme in Markdown (optional)')
        .fill(`${bypasses.join('\n\n')}\n\nThe end of the readme.`)
      await dialog.getByRole('button', { name: 'Preview the readme' }).click()
      await dialog.getByText('The end of the readme.').last().waitFor()
      await examine()
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
      const link = page.getByRole('link', { name: '</title><script>window.hacked=1</script>' })
      const path = new URL((await link.getAttribute('href'))!, scene.platform.url()).pathname
      const html = await (
        await page.request.get(`${scene.platform.url()}${path}`, { headers: { accept: 'text/html' } })
      ).text()
      expect(html).toContain(
        '<title>&lt;/title&gt;&lt;script&gt;window.hacked=1&lt;/script&gt; · Quantum Job Service</title>'
      )
      expect(html).toContain(
        'content="&quot;&gt;&lt;script&gt;window.hacked=1&lt;/script&gt; $&amp; NONCE_OF_THIS_RESPONSE"'
      )
      await open(path)
      const readme = page.getByRole('region', { name: 'Readme' })
      await readme.getByText('The end of the readme.').waitFor()
      expect(
        await readme.locator('script, style, iframe, object, img, svg, form, link, meta, base, math').count()
      ).toBe(0)
      const found = await page.evaluate<[string, string][]>(
        `[...document.querySelectorAll('[aria-label=Readme] *')].flatMap(({ attributes }) => [...attributes].map(({ name, value }) => [name, value]))`
      )
      for (const [name, value] of found) {
        expect([name, /^(on|style|srcdoc|src$)/.test(name)]).toEqual([name, false])
        if (name === 'href') expect(value).toMatch(/^(https?:|mailto:|#)/)
        if (name === 'id' || name === 'name') expect(value).toMatch(/^user-content-/)
      }
      const rels = await page.evaluate<string[]>(
        `[...document.querySelectorAll('[aria-label=Readme] a[href]')].map((link) => link.rel)`
      )
      expect(rels.length).toBeGreaterThan(2)
      expect(new Set(rels)).toEqual(new Set(['nofollow noopener noreferrer ugc']))
      expect(await page.evaluate('window.hacked')).toBeUndefined()
      await examine()
    }),
    180_000
  )

  browserTest(
    'names, tags, tasks and messages of others are text on every page',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const ids: string[] = []
      for (const name of names) {
        const { capsule_id: id } = await post(page, scene, '/api/capsules/create', {
          name,
          description: name,
          tags: [name.slice(0, 50)],
          workflow: {
            tasks: [{ name: 'main', inline_code: name, framework: 'openqasm', backend: 'local', parameters: {} }]
          }
        })
        ids.push(id!)
      }
      await open('/capsules')
      for (const name of names) await page.getByRole('link', { name, exact: true }).waitFor()
      await page.setViewportSize({ width: 360, height: 740 })
      for (const id of ids) {
        await open(`/capsules/${id}`)
        await page.getByRole('tab', { name: 'Definition' }).waitFor()
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
        await examine()
      }
      expect(await page.evaluate('window.hacked')).toBeUndefined()
    }),
    180_000
  )
}
