// What a supervisor asks a worker: whether the process lives (/healthz), and whether it takes jobs (/readyz). A worker that takes
// none is not to be restarted for that: Redis or Temporal may be away, and a restart would end its direct jobs.
import { createServer, type Server } from 'node:http'

/** @param isReady whether it takes jobs from both dispatch targets. */
export function startHealth(host: string, port: number, isReady: () => boolean): Server {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (request.url === '/healthz') return answer(200, { status: 'ok' })
    if (request.url !== '/readyz') return answer(404, { error: 'not found' })
    const ready = isReady()
    answer(ready ? 200 : 503, { ready })
  })
  return server.listen(port, host)
}
