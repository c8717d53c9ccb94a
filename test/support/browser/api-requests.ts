import type { Page } from 'playwright-core'

/**
 * The requests of the API that a page makes from now on; `clear` begins anew. Each counts once: what was read before the
 * stream of events has begun, which can be late, is read again then.
 */
export function apiRequests(page: Page): Set<string> {
  const seen = new Set<string>()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/') && pathname !== '/api/events') seen.add(`${request.method()} ${pathname}`)
  })
  return seen
}
