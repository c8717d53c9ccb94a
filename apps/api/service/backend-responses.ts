// Answers of the catalogue of backends.
import { type TSchema, Type } from 'typebox'
import {
  count,
  nullable,
  oneOf,
  type ResponseSet,
  ref,
  type SuccessResponse,
  text,
  time,
  usd,
  uuid
} from '../http/response-schema.js'

const cacheable = (description: string, body: TSchema): Record<number, SuccessResponse> => ({
  200: { description, body, headers: ['ETag'] },
  304: { description: 'As it was: If-None-Match names its ETag', headers: ['ETag'] }
})

const texts = Type.Array(text)

export const backendResponses: ResponseSet = {
  schemas: {
    Backend: Type.Object({
      id: uuid,
      slug: Type.String({ description: 'Used as `backend` in requests' }),
      name: text,
      provider: text,
      deviceType: oneOf(['simulator', 'qpu']),
      providerTargetId: text,
      region: nullable(text),
      qubitCount: nullable(count),
      topology: nullable(text),
      isAvailable: Type.Boolean({ description: 'Whether a job can be submitted to it now' }),
      unavailableReason: nullable(Type.String({ description: 'Why not; `null` when it can' })),
      status: oneOf(['online', 'offline', 'maintenance']),
      pricing: Type.Object({ taskFee: usd, perShot: usd, minimumCost: usd }),
      maxShots: nullable(count),
      maxQubits: nullable(count),
      description: nullable(text),
      documentationUrl: nullable(text),
      tags: texts,
      displayOrder: Type.Integer(),
      isRecommended: Type.Boolean(),
      isRetired: Type.Boolean(),
      queueLength: nullable(count),
      queueTimeSeconds: nullable(Type.Number()),
      statusUpdatedAt: time,
      supportedProgramTypes: texts,
      supportsNoiseModel: Type.Boolean(),
      supportsStateVector: Type.Boolean(),
      nativeGates: nullable(texts)
    })
  },
  answers: {
    'GET /api/backends': {
      success: cacheable('All backends', Type.Object({ backends: Type.Array(ref('Backend')), updatedAt: time }))
    },
    'GET /api/backends/:slug': { success: cacheable('The backend', ref('Backend')) }
  }
}
