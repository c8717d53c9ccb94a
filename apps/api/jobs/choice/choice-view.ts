// The choice of a backend as the API shows it. It is stored in this form.
import { Type } from 'typebox'
import { nullable, text, time, usd } from '../../http/response.js'

const positive = Type.Integer({ minimum: 0 })

export const BackendChoice = Type.Object(
  {
    asked: Type.Object({
      max_cost_usd: nullable(usd),
      max_wait_seconds: nullable(positive),
      min_qubits: nullable(positive),
      hardware: nullable(Type.Boolean())
    }),
    chosen: text,
    at: time,
    candidates: Type.Array(
      Type.Object({
        backend: text,
        usable: Type.Boolean(),
        reason: Type.String({ description: 'Why it was chosen, came later, or cannot take the job' }),
        estimated_cost_usd: usd,
        wait_seconds: nullable(positive, 'In the queue of its provider; null for unknown'),
        max_qubits: nullable(positive),
        hardware: Type.Boolean({ description: 'Whether it is a quantum computer' })
      }),
      { description: 'The chosen one first, then usable ones in order' }
    )
  },
  { $id: 'BackendChoice' }
)
