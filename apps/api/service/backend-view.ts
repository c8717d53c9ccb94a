// A backend of the catalogue. Its view is domain's (domain/backends/backend.ts).
import { Type } from 'typebox'
import { backendStatuses, deviceTypes } from '../../../domain/backends/backend.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { count, nullable, text, time, usd, uuid } from '../http/response.js'

const texts = Type.Array(text)

export const Backend = Type.Object(
  {
    id: uuid,
    slug: Type.String({ description: 'Used as `backend` in requests' }),
    name: text,
    provider: text,
    deviceType: oneOf(deviceTypes),
    providerTargetId: text,
    region: nullable(text),
    qubitCount: nullable(count),
    topology: nullable(text),
    isAvailable: Type.Boolean({ description: 'Whether a job can be submitted to it now' }),
    unavailableReason: nullable(Type.String({ description: 'Why it is not available; `null` when it is' })),
    status: oneOf(backendStatuses),
    pricing: Type.Object({
      taskFee: usd,
      perShot: usd,
      minimumCost: usd,
      perSecond: Type.Optional(
        Type.Number({ description: 'USD for a second of the machine; only of devices that are billed by time' })
      ),
      secondsMax: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: 'How long one circuit can run there: reserved for, and sent as the cap'
        })
      )
    }),
    maxShots: nullable(count),
    maxQubits: nullable(count),
    description: nullable(text),
    documentationUrl: nullable(text),
    tags: texts,
    displayOrder: Type.Integer(),
    isRecommended: Type.Boolean(),
    isRetired: Type.Boolean(),
    emulated: Type.Boolean({ description: 'Whether an emulator runs its jobs in the place of its provider' }),
    queueLength: nullable(count),
    queueTimeSeconds: nullable(Type.Number()),
    statusUpdatedAt: time,
    supportedProgramTypes: texts,
    supportsNoiseModel: Type.Boolean(),
    supportsStateVector: Type.Boolean(),
    supportsSweeps: Type.Boolean(),
    nativeGates: nullable(texts)
  },
  { $id: 'Backend' }
)
