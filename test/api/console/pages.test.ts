// The console as the api serves it. test/console looks at it in a browser.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from '@jest/globals'
import { workerPolicyOf } from '../../../apps/api/console/built-console.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { type Headers, startApi } from '../../support/api/api.js'
import { addSealedCapsule } from '../../support/capsules/capsule-rows.js'

const folder = join(projectRoot, 'dist/console')
const api = await startApi('console_pages', { consoleFolder: folder })
const bare = await startApi('console_missing', { consoleFolder: join(projectRoot, 'dist/no-such-folder') })
afterAll(() => Promise.all([api.close(), bare.close()]))

const navigation: Headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }
const get = (path: string, headers: Headers = navigation) => api.ask('GET', path, undefined, headers)
const assets = readdirSync(join(folder, 'assets')).filter((name) => /\.(js|css)$/.test(name))

describe('a navigation', () => {
  const paths = [
    '/',
    '/jobs',
    '/jobs/some-id?tab=source',
    '/invitations/a-token',
    '/reset-password/a-token',
    '/unknown'
  ]
  test.each(paths)(
    'to %s gets the page, uncached, under a policy without inline script or foreign address',
    async (path) => {
      const { status, text, headers } = await get(path)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['cache-control']).toBe('no-store')
      expect(headers['referrer-policy']).toBe('no-referrer')
      const policy = String(headers['content-security-policy'])
      const nonce = /'nonce-([^']+)'/.exec(policy)![1]!
      expect(policy).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; connect-src 'self'; worker-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'`
      )
      expect(text).toContain(`nonce="${nonce}"`)
      expect(text).not.toContain('NONCE_OF_THIS_RESPONSE')
      expect([...text.matchAll(/<script[^>]*>([^<]*)<\/script>/g)].map(([, code]) => code)).toEqual([''])
    }
  )

  test('to a published capsule gets its title and description in the HTML, as text; to no other slug', async () => {
    const ada = await api.signUpWithTeam()
    const id = await addSealedCapsule(api.database.db, { userId: ada.id, email: ada.email }, ada.teamId)
    const [title, description] = ['</title><b>$& pair', '"><script>NONCE_OF_THIS_RESPONSE</script>']
    const { body } = await ada.post(`/api/capsules/${id}/publish`, { title, description })
    const { slug } = body.publication
    const { status, text, headers } = await get(`/public/${slug}`)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('<title>&lt;/title&gt;&lt;b&gt;$&amp; pair · Quantum Job Service</title>')
    const shown = '&quot;&gt;&lt;script&gt;NONCE_OF_THIS_RESPONSE&lt;/script&gt;'
    expect(text).toContain(`<meta name="description" content="${shown}">`)
    expect(text).toContain(`<meta property="og:description" content="${shown}">`)
    for (const path of ['/public', '/public/no-such-capsule', `/public/${slug.toUpperCase()}`, '/public/%3Cb%3E']) {
      const other = await get(path)
      expect([path, other.status, other.text.includes('<title>Quantum Job Service</title>')]).toEqual([path, 200, true])
    }
    expect((await get(`/public/${slug}`, { accept: 'application/json' })).status).toBe(404)
    expect((await get(`/public/${'x'.repeat(600)}`)).status).toBeLessThan(500)
  })

  test('gets a nonce that no other response has', async () => {
    const policies = await Promise.all(
      Array.from({ length: 5 }, async () => (await get('/')).headers['content-security-policy'])
    )
    expect(new Set(policies).size).toBe(5)
  })

  test('to a path of the API gets its JSON', async () => {
    for (const path of ['/api/no-such-route', '/api', '/assets/none.js', '/docs/none']) {
      const { status, headers } = await get(path)
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'application/json; charset=utf-8'])
    }
  })
})

test('a request that is no navigation gets the JSON 404', async () => {
  const others: [string, Headers][] = [
    ['/', {}],
    ['/jobs', { accept: '*/*' }],
    ['/jobs', { ...navigation, 'sec-fetch-mode': 'cors' }],
    ['/jobs', { ...navigation, authorization: 'Bearer marqey_live_none' }]
  ]
  for (const [path, headers] of others) {
    const answer = await get(path, headers)
    expect([path, answer.status]).toEqual([path, 404])
    expect(answer.body.error).toBeDefined()
  }
  expect((await api.ask('POST', '/jobs', {}, navigation)).status).toBe(404)
})

describe('assets', () => {
  test('are kept by browsers for good, and come compressed as the browser asks', async () => {
    expect(assets.length).toBeGreaterThan(3)
    for (const name of assets) {
      expect(name).toMatch(/-[\w-]{8}\.(js|css)$/)
      const plain = readFileSync(join(folder, 'assets', name))
      const encodings: [string, (body: Buffer) => Buffer][] = [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync]
      ]
      for (const [encoding, unpacked] of encodings) {
        const { statusCode, headers, rawPayload } = await api.app.inject({
          url: `/assets/${name}`,
          headers: { 'accept-encoding': encoding }
        })
        expect([statusCode, headers['content-encoding']]).toEqual([200, encoding])
        expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
        expect(unpacked(rawPayload).equals(plain)).toBe(true)
      }
      const { rawPayload } = await api.app.inject({
        url: `/assets/${name}`,
        headers: { 'accept-encoding': 'identity' }
      })
      expect(rawPayload.equals(plain)).toBe(true)
    }
  })

  test('lead to no other file', async () => {
    const paths = [
      '/assets/../index.html',
      '/assets/..%2findex.html',
      '/assets/..%2f..%2f..%2fpackage.json',
      '/assets/'
    ]
    for (const path of paths) expect([path, (await get(path, {})).status]).toEqual([path, 404])
    expect(existsSync(join(folder, 'index.html'))).toBe(true)
  })
})

test('a refused sign-in through the identity provider is a page for a browser, and JSON for programs', async () => {
  for (const path of ['/api/auth/oidc/start', '/api/auth/oidc/callback?error=%3Cscript%3E']) {
    const page = await get(path)
    expect([path, page.status, page.headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8'])
    expect(page.text).toContain('is not set up here')
    expect(page.text).toContain('href="/sign-in"')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect((await get(path, {})).body.error).toContain('is not set up here')
  }
})

test('the file of a worker has a policy of its own, without network, and only Qulacs makes code from text', () => {
  expect(workerPolicyOf('workers/statevector-Ab12.js')).toBe("default-src 'none'; script-src 'self'")
  expect(workerPolicyOf('workers/qulacs-Ab12.js')).toBe(
    "default-src 'none'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'"
  )
  expect(workerPolicyOf('index-Ab12.js')).toBeNull()
})

test('an api without a built console says at its address how to build it, and serves the API', async () => {
  for (const path of ['/', '/jobs', '/invitations/a-token']) {
    const { status, text } = await bare.ask('GET', path, undefined, navigation)
    expect([path, status]).toEqual([path, 200])
    expect(text).toContain('npm run build')
  }
  expect((await bare.ask('GET', '/api/meta')).status).toBe(200)
  expect((await bare.ask('GET', '/assets/any.js')).status).toBe(404)
})
