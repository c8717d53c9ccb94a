// Answers about capsules as files.
import { Type } from 'typebox'
import { created, ok, type ResponseSet, text, uuid } from '../../http/response-schema.js'

export const capsuleTransferResponses: ResponseSet = {
  schemas: {},
  answers: {
    'GET /api/capsules/:id/export': {
      success: { 200: { description: 'The package, as a download', body: '*/*' } },
      errors: ['rate_limited']
    },
    'GET /api/capsules/:id/attestation': {
      success: ok(
        'A DSSE envelope; its payload is base64 of an in-toto Statement v1',
        Type.Object({
          payload: text,
          payloadType: Type.Literal('application/vnd.in-toto+json'),
          signatures: Type.Array(Type.Object({ keyid: text, sig: text }))
        })
      )
    },
    'POST /api/capsules/import': {
      success: created(
        'The draft is made; warnings say what of the package could not be kept',
        Type.Object({ capsule_id: uuid, state: Type.Literal('draft'), warnings: Type.Array(text) })
      ),
      errors: ['conflict']
    },
    'POST /api/capsules/upload': {
      success: created('The draft is made', Type.Object({ capsule_id: uuid })),
      errors: ['conflict', 'not_found', 'backend_unknown']
    }
  }
}
