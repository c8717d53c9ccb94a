// Answers of the service about itself.
import { Type } from 'typebox'
import { frameworks } from '../../../domain/jobs/framework.js'
import { ok, oneOf, type ResponseSet, ref, text } from '../http/response-schema.js'

const Part = Type.Object({ state: oneOf(['ok', 'degraded', 'down']), latency_ms: Type.Number({ minimum: 0 }) })
const parts = ['database', 'redis', 'temporal', 'executor']

export const serviceResponses: ResponseSet = {
  schemas: {
    Done: Type.Object({ success: Type.Literal(true) }),
    Readiness: Type.Object({
      status: oneOf(['ok', 'degraded', 'down']),
      parts: Type.Object(Object.fromEntries(parts.map((part) => [part, Part])))
    })
  },
  answers: {
    'GET /healthz': { success: ok('The process answers', Type.Object({ status: Type.Literal('ok') })) },
    'GET /readyz': {
      success: {
        ...ok('Requests can be served', ref('Readiness')),
        503: {
          description: 'They cannot: the database is away, or the process is shutting down',
          body: ref('Readiness')
        }
      }
    },
    'GET /api/meta': {
      success: ok(
        'What this service is',
        Type.Object({
          name: text,
          api_version: text,
          version: text,
          features: Type.Object({
            execution_modes: Type.Array(oneOf(['direct', 'temporal'])),
            sign_in: Type.Array(oneOf(['password', 'oidc'])),
            frameworks: Type.Array(oneOf(frameworks))
          })
        })
      )
    }
  }
}
