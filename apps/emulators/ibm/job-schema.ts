// The body of POST /jobs, strictly: by IBM's OpenAPI document 0.45.3 and its schema of the sampler.
import { Ajv } from 'ajv'
import { type Static, type TSchema, Type } from 'typebox'
import { codes, IbmError, notValid } from './errors.js'

const strict = { additionalProperties: false }
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const counted = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('auto')])

const options = Type.Object(
  {
    default_shots: Type.Optional(Type.Integer({ minimum: 1 })),
    dynamical_decoupling: Type.Optional(
      Type.Object({
        enable: Type.Optional(Type.Boolean()),
        sequence_type: Type.Optional(Type.Enum(['XX', 'XpXm', 'XY4'])),
        extra_slack_distribution: Type.Optional(Type.Enum(['middle', 'edges'])),
        scheduling_method: Type.Optional(Type.Enum(['alap', 'asap'])),
        skip_reset_qubits: Type.Optional(Type.Boolean())
      })
    ),
    execution: Type.Optional(
      Type.Object({
        init_qubits: Type.Optional(Type.Boolean()),
        rep_delay: Type.Optional(nullable(Type.Number({ minimum: 0 }))),
        meas_type: Type.Optional(Type.Enum(['classified', 'kerneled', 'avg_kerneled']))
      })
    ),
    twirling: Type.Optional(
      Type.Object({
        enable_gates: Type.Optional(Type.Boolean()),
        enable_measure: Type.Optional(Type.Boolean()),
        num_randomizations: Type.Optional(counted),
        shots_per_randomization: Type.Optional(counted),
        strategy: Type.Optional(Type.Enum(['active', 'active-circuit', 'active-accum', 'all']))
      })
    ),
    simulator: Type.Optional(
      nullable(
        Type.Object(
          {
            noise_model: Type.Optional(Type.Unknown()),
            seed_simulator: Type.Optional(nullable(Type.Integer())),
            coupling_map: Type.Optional(Type.Unknown()),
            basis_gates: Type.Optional(nullable(Type.Array(Type.String())))
          },
          strict
        )
      )
    ),
    experimental: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
  },
  strict
)

const params = Type.Object(
  {
    pubs: Type.Array(Type.Array(Type.Unknown(), { minItems: 1, maxItems: 3 }), { minItems: 1 }),
    options: Type.Optional(options),
    shots: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
    support_qiskit: Type.Optional(Type.Boolean()),
    version: Type.Optional(Type.Literal(2))
  },
  strict
)

const logLevels = ['critical', 'error', 'warning', 'info', 'debug']
const capitals = (text: string): string => text.toUpperCase()

const body = Type.Object(
  {
    program_id: Type.String({ minLength: 1 }),
    backend: Type.String({ minLength: 1 }),
    params,
    tags: Type.Optional(Type.Array(Type.String())),
    cost: Type.Optional(Type.Integer({ minimum: 0 })),
    // IBM's own client sends it in capitals.
    log_level: Type.Optional(Type.String({ pattern: `^(${[...logLevels, ...logLevels.map(capitals)].join('|')})$` })),
    session_id: Type.Optional(nullable(Type.String())),
    calibration_id: Type.Optional(nullable(Type.String())),
    private: Type.Optional(Type.Boolean()),
    runtime: Type.Optional(Type.String())
  },
  strict
)

export type JobBody = Static<typeof body>
export type SamplerParams = JobBody['params']

const valid = new Ajv().compile<JobBody>(body)
const tagsMax = 8
const tagLengthMax = 86

/** The other programs have other parameters, so they are named before the schema is compared. */
const onlyProgram = 'sampler'

/** @throws IbmError (400) naming the first wrong field. */
export function readJob(sent: unknown): JobBody {
  const program = sent !== null && typeof sent === 'object' && 'program_id' in sent ? sent.program_id : undefined
  if (typeof program === 'string' && program !== onlyProgram)
    throw notValid(`program_id: this emulator runs only ${onlyProgram}, not ${program.slice(0, 60)}.`)
  if (!valid(sent)) {
    const [error] = valid.errors!
    const within = error!.instancePath.slice(1).replaceAll('/', '.')
    const key = error!.params.missingProperty ?? error!.params.additionalProperty
    const field = [within, key].filter(Boolean).join('.') || 'body'
    throw notValid(`${field}: ${error!.message}.`)
  }
  checkTags(sent.tags ?? [])
  return sent
}

/** @throws IbmError (400) */
export function checkTags(tags: unknown): asserts tags is string[] {
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
    throw notValid('tags: must be a list of texts.')
  if (tags.length > tagsMax)
    throw new IbmError(400, codes.tooManyTags, `A job can have at most ${tagsMax} tags (got ${tags.length}).`)
  const long = tags.find((tag) => tag.length > tagLengthMax)
  if (long !== undefined)
    throw new IbmError(400, codes.tagTooLong, `A tag can have at most ${tagLengthMax} characters (got ${long.length}).`)
}
