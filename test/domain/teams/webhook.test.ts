import { describe, expect, test } from '@jest/globals'
import { isFinal, jobStatuses } from '../../../domain/jobs/job-status.js'
import { eventOfStatus, RETRY_SECONDS, readWebhookUrl, URL_MAX } from '../../../domain/teams/webhook.js'

const fault = (text: string, allowPrivate = false): string => {
  try {
    return `taken: ${readWebhookUrl(text, allowPrivate)}`
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`
  }
}

describe('the URL of a webhook', () => {
  test.each([
    ['https://example.org/hook?team=1', 'https://example.org/hook?team=1'],
    ['https://EXAMPLE.org:8443', 'https://example.org:8443/'],
    ['https://example.org:443/', 'https://example.org/'],
    ['https://b\u00fccher.example/', 'https://xn--bcher-kva.example/']
  ])('%s is accepted in its canonical form', (text, canonical) => {
    expect(readWebhookUrl(text, false)).toBe(canonical)
  })

  test.each([
    ['no address', 'must be an address such as https://example.org/hook'],
    ['example.org/hook', 'must be an address such as https://example.org/hook'],
    ['//example.org', 'must be an address such as https://example.org/hook'],
    ['ftp://example.org/', 'must be an address such as https://example.org/hook'],
    ['file:///etc/passwd', 'must be an address such as https://example.org/hook'],
    ['javascript:alert(1)', 'must be an address such as https://example.org/hook'],
    ['https://', 'must be an address such as https://example.org/hook'],
    ['https://example.org:99999/', 'must be an address such as https://example.org/hook'],
    ['http://example.org/', 'must begin with https://'],
    ['https://ada@example.org/', 'must not hold a user name or a password'],
    ['https://:pw@example.org/', 'must not hold a user name or a password'],
    ['https://example.org/#top', 'must not hold a fragment (#...), which is never sent'],
    // Percent-encoding makes it longer than the text that was sent.
    [`https://example.org/${'\u00fc'.repeat(URL_MAX / 2)}`, `must have at most ${URL_MAX} characters when written out`],
    ...[
      'localhost',
      'localhost.',
      'LOCALHOST',
      'a.localhost',
      'postgres',
      'printer.local',
      'db.internal',
      'x.home.arpa'
    ].map((host) => [`https://${host}/`, 'must be on the public Internet; this host belongs to a private network'])
  ])('%s is refused with the reason', (text, message) => {
    expect(fault(text!)).toBe(`validation_error url: ${message}`)
  })

  test('can be http and private when the operator allows it, but without credentials', () => {
    expect(readWebhookUrl('http://localhost:9000/hook', true)).toBe('http://localhost:9000/hook')
    expect(fault('http://ada:pw@localhost/', true)).toContain('user name')
    expect(fault('gopher://localhost/', true)).toContain('must be an address')
  })
})

test('exactly the final statuses of a job are webhook events', () => {
  expect(jobStatuses.filter((status) => eventOfStatus[status])).toEqual(jobStatuses.filter(isFinal))
  expect(eventOfStatus.dispatch_failed).toBe('job.failed')
})

test('a delivery is retried for more than a day', () => {
  expect(RETRY_SECONDS.reduce((sum, seconds) => sum + seconds, 0)).toBeGreaterThan(86_400)
})
