import type { FastifyRequest } from 'fastify'

/** Whether a browser asks for a page, rather than a script of a page or a program for data. */
export function isNavigation({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  const mode = headers['sec-fetch-mode']
  return (
    (method === 'GET' || method === 'HEAD') &&
    (mode === undefined || mode === 'navigate') &&
    headers.accept?.includes('text/html') === true
  )
}
