import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { readApiConfig } from '../../../apps/api/config.js'
import { cookieOf, deadAddress, startApi } from '../../support/api/api.js'
import { CLIENT, startIdentityProvider } from '../../support/api/identity-provider.js'
import { cookiesOf, expectRefusal, redirectUri, startOidc } from '../../support/api/oidc.js'

const oidc = await startOidc('oidc_trust')
const {
  api,
  provider,
  clientFor,
  clock,
  logged,
  goToProvider,
  comeBack,
  signIn,
  newPerson,
  newCode,
  usesLeft,
  rowsOf
} = oidc
const { database } = api
const { withClient } = oidc
afterAll(() => oidc.close())
afterEach(() => oidc.mend())

describe('an ID token', () => {
  const seconds = Math.floor(Date.now() / 1000)
  test.each([
    ['of another issuer', { claims: { iss: 'https://other.example' } }],
    ['for another service', { claims: { aud: 'another-service' } }],
    ['for several services, issued to another', { claims: { aud: [CLIENT.clientId, 'another'], azp: 'another' } }],
    ['that has expired', { claims: { iat: seconds - 900, exp: seconds - 600 } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['that is not valid yet', { claims: { nbf: seconds + 3600 } }],
    ['of another sign-in', { claims: { nonce: 'another nonce' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with a subject of 256 characters', { claims: { sub: 'a'.repeat(256) } }],
    ['with a NUL in its subject', { claims: { sub: 'a\u0000b' } }],
    ['without a signature', { signedBy: 'nobody' }],
    ['signed by another key under the same name', { signedBy: 'another key' }],
    ['signed by the secret of the client', { signedBy: 'the client secret' }],
    ['that is missing', { idToken: undefined }],
    ['that is not a token', { idToken: 'a.b.c' }],
    ['that is empty', { idToken: '' }],
    ['that is encrypted', { idToken: 'a.b.c.d.e' }]
  ] as const)('%s does not sign the user in', async (_what, fault) => {
    const person = newPerson()
    const code = await newCode()
    const visit = await goToProvider(person, `?code=${code}`)
    provider.state.fault = fault
    expectRefusal(await comeBack(visit), 401, /cannot be trusted|must have 1 to 255 characters/)
    expect(await rowsOf(person.email)).toEqual([])
    expect(await usesLeft(code)).toBe(1)
    // The same person can sign in as soon as the provider behaves correctly again.
    provider.state.fault = {}
    expect((await signIn(person, `?code=${code}`)).status).toBe(302)
  })
})

describe('a return from the provider', () => {
  test('with the state of another browser is refused', async () => {
    const [mine, theirs] = [await goToProvider(newPerson()), await goToProvider(newPerson())]
    expectRefusal(await comeBack({ cookie: mine.cookie, back: theirs.back }), 400, /^state: belongs to another sign-in/)
    const swapped = new URL(theirs.back, 'http://localhost')
    swapped.searchParams.set('state', new URL(mine.back, 'http://localhost').searchParams.get('state')!)
    // A code of another user's sign-in: the verifier does not match it.
    const injected = { cookie: mine.cookie, back: `${swapped.pathname}${swapped.search}` }
    expectRefusal(await comeBack(injected), 400, /^code: was used already, has expired or is not of this sign-in/)
  })

  test('for a second time is refused, with or without the cookie', async () => {
    const visit = await goToProvider(newPerson(), `?code=${await newCode()}`)
    expect((await comeBack(visit)).status).toBe(302)
    expectRefusal(await comeBack(visit), 400, /^code: was used already/)
    expectRefusal(await comeBack({ ...visit, cookie: '' }), 400, /has no sign-in in progress here/)
  })

  test('with a cookie that was changed, cut, combined or invented is refused', async () => {
    const [visit, other] = [await goToProvider(newPerson()), await goToProvider(newPerson())]
    const [name, sealed] = visit.cookie.split('=') as [string, string]
    const [ring, key, value] = sealed.split('.') as [string, string, string]
    const flip = (part: string, at: number) =>
      `${part.slice(0, at)}${part[at] === 'A' ? 'B' : 'A'}${part.slice(at + 1)}`
    const changed = [
      ...[0, 20, 60].map((at) => `${ring}.${flip(key, at)}.${value}`),
      ...[0, 40, 400].map((at) => `${ring}.${key}.${flip(value, at)}`),
      `${ring}.${key}.${value.slice(0, -8)}`,
      `${ring}.${key}`,
      `other.${key}.${value}`,
      `${ring}.${key}.${other.cookie.split('.')[2]}`,
      `${ring}..`,
      '..',
      'x',
      '%00',
      Buffer.from('{"state":"x"}').toString('base64url')
    ]
    for (const cookie of changed)
      expectRefusal(await comeBack({ ...visit, cookie: `${name}=${cookie}` }), 400, /was not made here/)
  })

  test('is refused after ten minutes, and not before', async () => {
    const [late, early] = [await goToProvider(newPerson(), `?code=${await newCode()}`), await goToProvider(newPerson())]
    clock.ahead = 600_000
    expectRefusal(await comeBack(early), 400, /started more than 10 minutes ago/)
    clock.ahead = 570_000
    expect((await comeBack(late)).status).toBe(302)
  })

  test('without parameters, with repeated ones, or with another issuer is refused', async () => {
    for (const query of ['', '?code=x', '?state=x', '?error=access_denied', '?state=a&state=b']) {
      const answer = await api.ask('GET', `/api/auth/oidc/callback${query}`)
      expect(answer.status).toBe(400)
    }
    const onlyState = await goToProvider(newPerson())
    expectRefusal(
      await comeBack({ ...onlyState, back: onlyState.back.replace(/code=[^&]*/, '') }),
      400,
      /^code: is req/
    )
    const twice = await goToProvider(newPerson())
    expect((await comeBack({ ...twice, back: `${twice.back}&code=another` })).status).toBe(400)
    const mixed = await goToProvider(newPerson())
    const back = mixed.back.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother.example')
    expectRefusal(await comeBack({ ...mixed, back }), 401, /cannot be trusted/)
  })

  test.each([
    ['access_denied', 403, /did not sign you in \(access_denied\)/],
    ['temporarily_unavailable', 502, /cannot sign users in now/],
    ['server_error', 502, /cannot sign users in now/],
    ['<script>alert(1)</script>', 403, /did not sign you in \(an unknown error\)/]
  ])('with the error %s is refused with a message that fits the error', async (denial, status, message) => {
    provider.state.fault = { denial }
    expectRefusal(await signIn(newPerson()), status, message)
  })

  test('needs a cookie that is bound to TLS and to the host if the service uses TLS', async () => {
    const tls = await startApi('oidc_tls', {
      database,
      oidc: clientFor(provider.issuer),
      config: { publicUrl: 'https://jobs.example.org' }
    })
    const visit = await goToProvider(newPerson(), `?code=${await newCode()}`, tls)
    expect(visit.cookie).toMatch(/^__Host-qjs_oidc=/)
    expect((await comeBack({ ...visit, cookie: visit.cookie.replace('__Host-', '') }, tls)).status).toBe(400)
    const answer = await comeBack(visit, tls)
    expect(answer.status).toBe(302)
    expect(Object.keys(cookiesOf(answer)).sort()).toEqual(['__Host-qjs_oidc', '__Host-qjs_session'])
    for (const cookie of Object.values(cookiesOf(answer))) expect(cookie).toContain('Secure')
    await tls.close()
  })
})

describe('a provider', () => {
  test('that is unavailable does not prevent the API from starting, and is used once it is back', async () => {
    const address = await deadAddress()
    await withClient(clientFor(`http://${address}`), async (at) => {
      for (let turn = 0; turn < 2; turn++) {
        const answer = await at.ask('GET', '/api/auth/oidc/start')
        expect([answer.status, answer.body]).toEqual([
          502,
          { error: 'The identity provider cannot be reached or is out of order; try again later' }
        ])
      }
      expect((await at.ask('GET', '/healthz')).status).toBe(200)
      // The log gives the operator more detail than the user gets.
      expect(logged.join('')).toContain('"stage":"discovery","reason":"ECONNREFUSED"')
      const back = await startIdentityProvider({ redirectUri, port: Number(address.split(':')[1]) })
      expect((await at.ask('GET', '/api/auth/oidc/start')).status).toBe(302)
      await back.close()
    })
  })

  test('that becomes unavailable between the two steps of a sign-in gives a 502', async () => {
    const passing = await startIdentityProvider({ redirectUri })
    await withClient(clientFor(passing.issuer), async (at) => {
      const start = await at.ask('GET', '/api/auth/oidc/start')
      const back = new URL(await passing.visit(start.headers.location as string))
      await passing.close()
      const answer = await comeBack({ cookie: cookieOf(start), back: `${back.pathname}${back.search}` }, at)
      expectRefusal(answer, 502, /cannot be reached/)
    })
  })

  test.each(['/.well-known/openid-configuration', '/token', '/jwks', '/userinfo'])(
    'that does not respond at %s is given up at a time limit',
    async (silentAt) => {
      await withClient(clientFor(provider.issuer, { providerSeconds: 0.3 }), async (at) => {
        provider.state.claimsIn = 'userinfo'
        if (silentAt.startsWith('/.well-known')) {
          provider.state.fault = { silentAt }
          expect((await at.ask('GET', '/api/auth/oidc/start')).status).toBe(502)
        } else {
          const visit = await goToProvider(newPerson(), '', at)
          provider.state.fault = { silentAt }
          expectRefusal(await comeBack(visit, at), 502, /cannot be reached/)
        }
      })
    }
  )

  test.each([
    ['a page instead of tokens', { status: 200, body: '<html>', type: 'text/html' }, 502],
    ['broken JSON', { status: 200, body: '{"access_token":' }, 401],
    ['a server error', { status: 503, body: 'busy', type: 'text/plain' }, 502],
    ['a list', { status: 200, body: '[]' }, 401],
    ['an empty object', { status: 200, body: '{}' }, 401],
    ['another error', { status: 400, body: '{"error":"unauthorized_client"}' }, 503]
  ])('whose token endpoint returns %s does not sign the user in', async (_what, tokenAnswer, status) => {
    const visit = await goToProvider(newPerson(), `?code=${await newCode()}`)
    provider.state.fault = { tokenAnswer }
    expectRefusal(await comeBack(visit), status, /^The identity provider /)
  })

  test('whose issuer differs from the configured one is not used', async () => {
    provider.state.fault = { metadata: { issuer: 'https://other.example' } }
    await withClient(clientFor(provider.issuer), async (at) =>
      expect((await at.ask('GET', '/api/auth/oidc/start')).status).toBe(503)
    )
  })

  test.each([
    ['no authorization endpoint', { metadata: { authorization_endpoint: undefined } }],
    ['an authorization endpoint that is not a URL', { metadata: { authorization_endpoint: 'here' } }],
    ['no token endpoint', { metadata: { token_endpoint: undefined } }],
    ['a token endpoint that is not a URL', { metadata: { token_endpoint: 'here' } }],
    ['no keys', { metadata: { jwks_uri: undefined } }],
    ['an empty list of keys', { keys: [] }],
    ['an incomplete key', { keys: [{ kty: 'RSA', kid: 'k1', alg: 'RS256', use: 'sig' }] }],
    ['keys that are not a list', { keys: 'none' }]
  ])('that has %s causes a refusal that names the provider, never an internal error', async (_what, fault) => {
    provider.state.fault = fault
    await withClient(clientFor(provider.issuer), async (at) => {
      provider.state.person = newPerson()
      const start = await at.ask('GET', '/api/auth/oidc/start')
      if (start.status === 302) {
        const back = new URL(await provider.visit(start.headers.location as string))
        const answer = await comeBack({ cookie: cookieOf(start), back: `${back.pathname}${back.search}` }, at)
        expect([401, 503]).toContain(answer.status)
        expect(answer.body.error).toMatch(/^The identity provider /)
      } else {
        expect([start.status, start.body.error]).toEqual([503, expect.stringMatching(/check OIDC_ISSUER$/)])
      }
    })
  })

  test('gets the client secret in the body or the header, as its metadata states', async () => {
    for (const method of ['client_secret_post', 'client_secret_basic']) {
      provider.state.authMethods = [method]
      await withClient(clientFor(provider.issuer), async (at) =>
        expect((await signIn(newPerson(), `?code=${await newCode()}`, at)).status).toBe(302)
      )
    }
  })

  test('that rejects the client secret is reported as a configuration error', async () => {
    await withClient(clientFor(provider.issuer, { clientSecret: 'wrong' }), async (at) =>
      expectRefusal(
        await signIn(newPerson(), '', at),
        503,
        /\(invalid_client\).*check OIDC_CLIENT_ID and OIDC_CLIENT_SEC/
      )
    )
  })

  test('is queried for its metadata once an hour, independent of the number of sign-ins', async () => {
    await withClient(clientFor(provider.issuer), async (at) => {
      const looks = () => provider.paths.filter((path) => path.startsWith('/.well-known')).length
      const before = looks()
      const start = () => at.ask('GET', '/api/auth/oidc/start')
      await Promise.all(Array.from({ length: 10 }, start))
      expect(looks()).toBe(before + 1)
      clock.ahead = 3_600_000
      await start()
      expect(looks()).toBe(before + 2)
    })
  })
})

test('no log contains a code, a verifier, a token, a state or an access code', async () => {
  const code = await newCode(9)
  const visits = [await goToProvider(newPerson(), `?code=${code}`), await goToProvider(newPerson(), `?code=${code}`)]
  await comeBack(visits[0]!)
  await comeBack(visits[0]!)
  provider.state.fault = { signedBy: 'another key' }
  await comeBack(visits[1]!)
  provider.state.fault = { denial: 'access_denied' }
  await signIn(newPerson())
  const states = visits.map(({ back }) => new URL(back, 'http://localhost').searchParams.get('state')!)
  const written = logged.join('')
  // The log does show that a sign-in failed, and at which step.
  expect(written).toContain('"reason":"OAUTH_')
  for (const secret of [
    ...provider.secrets,
    ...states,
    ...visits.map(({ cookie }) => cookie),
    code,
    CLIENT.clientSecret
  ])
    expect(written).not.toContain(secret)
})

describe('the configuration of the identity provider', () => {
  const env = {
    DATABASE_URL: 'postgres://x',
    REDIS_URL: 'redis://x',
    TEMPORAL_ADDRESS: 'x:1',
    SECRETS_KEYS: `k1:${Buffer.from('another ring key of 32 bytes its').toString('base64')}`,
    OIDC_ISSUER: 'https://accounts.example.org/realms/one',
    OIDC_CLIENT_ID: 'service',
    OIDC_CLIENT_SECRET: 'secret'
  }

  test('has a provider if all three variables are set, and none if no variable is set', () => {
    expect(readApiConfig(env).oidc).toEqual({ issuer: env.OIDC_ISSUER, clientId: 'service', clientSecret: 'secret' })
    const without = { ...env, OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '' }
    expect(readApiConfig(without).oidc).toBeNull()
  })

  test.each(['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'SECRETS_KEYS'])(
    'without %s alone fails the start with a message that names the variable',
    (name) => {
      expect(() => readApiConfig({ ...env, [name]: '' })).toThrow(new RegExp(`^${name} is not set`))
    }
  )

  test.each([
    'accounts.example.org',
    'http://accounts.example.org',
    'ftp://x',
    'https://u:p@x.example',
    'https://x/?a=b'
  ])('refuses the issuer %s', (issuer) => {
    expect(() => readApiConfig({ ...env, OIDC_ISSUER: issuer })).toThrow(/^OIDC_ISSUER must be an address/)
  })

  test('accepts http for an identity provider on this machine', () => {
    for (const issuer of ['http://localhost:8080/realms/one', 'http://127.0.0.1:9', 'http://[::1]:9'])
      expect(readApiConfig({ ...env, OIDC_ISSUER: issuer }).oidc?.issuer).toBe(issuer)
  })
})
