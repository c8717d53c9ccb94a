// `writeOnce`: the transaction of every write. It commits the effect and, for a request with an Idempotency-Key, the response
// that a repetition gets. Handlers need not know whether a request has a key.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import pTimeout from 'p-timeout'
import type { Db, Tx } from '../../../db/client.js'
import {
  claimKey,
  findStoredResponse,
  type IdempotentWrite,
  type KeyedAnswer,
  type StoredResponse,
  storeResponse
} from '../../../db/service/idempotency-keys.js'
import { takeSlot } from './access.js'
import {
  assertSameWrite,
  type IdempotentRequest,
  isBodyAhead,
  keptBody,
  keyedWrite,
  replay,
  sendText,
  type TextResponse,
  underWay
} from './idempotency.js'
import type { Limiter } from './limits/limiter.js'
import { type RouteReply, type Sent, sent, type WriteResponse } from './response.js'

/** How long a duplicate waits for the response to the first. */
const WAIT_MS = 10_000
/** A request whose key another process holds for longer takes one of the places for waiting requests. */
const SOON_MS = 100

/** The means of a write. */
export interface Write {
  tx: Tx
  /** Runs after the commit, before the response is sent; not for a replay. What it throws is only logged. */
  afterCommit(effect: () => void): void
  /** Runs after a rollback, before the refusal is sent. What it throws is only logged. */
  afterRollback(effect: () => Promise<unknown>): void
}

/** The means of a write that is one statement. */
export interface WriteAtOnce extends Pick<Write, 'afterCommit' | 'afterRollback'> {
  /** What the statement stores under the key of the request; `null` without a key. */
  answered(response: AnyResponse): KeyedAnswer | null
}

/**
 * @param act its response is typed by the `schema.response` of the route that `reply` belongs to.
 * @param atOnce carries out the write without a transaction; where it returns `null`, it has written nothing, and `act` follows.
 */
export type WriteOnce = <const Schema extends FastifySchema, const Response extends WriteResponse<Schema>>(
  request: FastifyRequest,
  reply: RouteReply<Schema>,
  act: (write: Write) => Promise<Response>,
  atOnce?: (write: WriteAtOnce) => Promise<Response | null>
) => Promise<Sent>

/** The response of any route, for what works on all of them alike. */
export interface AnyResponse {
  status?: number
  body?: object | string
  kept?: object
}

/** How a route carries out its write. */
interface Way {
  act: (write: Write) => Promise<AnyResponse>
  atOnce?: (write: WriteAtOnce) => Promise<AnyResponse | null>
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Responds to a request whose key was used before, as `writeOnce` does; `null` for any other request. For routes whose
     * handler reads the body itself, before it does costly work with it.
     */
    repeatOnce: (request: FastifyRequest, reply: FastifyReply) => Promise<Sent> | null
    /**
     * Runs `act` in a transaction and sends its response, or sends the stored response of the same request.
     * @throws ServiceError as `act` does, after which nothing is stored; `idempotency_conflict`, `request_under_way`.
     */
    writeOnce: WriteOnce
  }
}

interface WriteOnceOptions {
  db: Db
  limiter: Limiter
  /** Connections of `db`: at most a quarter of them may wait for other processes. */
  poolMax: number
}

export default fp(
  async (app: FastifyInstance, { db, limiter, poolMax }: WriteOnceOptions) => {
    app.addHook('preValidation', (request, reply, done) => {
      const { keyed } = request
      if (!keyed?.kept || isBodyAhead(request, keyed)) return done()
      repeat(limiter, request, reply, keyedWrite(request, keyed), keyed.kept).catch(done)
    })
    app.decorate('repeatOnce', (request, reply) => {
      const { keyed } = request
      if (!keyed?.kept) return null
      return repeat(limiter, request, reply, keyedWrite(request, keyed), keyed.kept).then(sent)
    })
    const respond = createWriteOnce(db, limiter, Math.max(1, Math.floor(poolMax / 4)))
    app.decorate('writeOnce', async (request, reply, act, atOnce) =>
      sent(await respond(request, reply as FastifyReply, { act, atOnce } as Way))
    )
  },
  { name: 'write-once', dependencies: ['access'] }
)

/** @param waitersMax connections that may wait for other processes at once. */
function createWriteOnce(db: Db, limiter: Limiter, waitersMax: number) {
  // Writes in progress in this process, by principal and key. Duplicates wait for them without a connection.
  const underWayHere = new Map<string, Promise<unknown>>()
  let waiters = 0

  return async (request: FastifyRequest, reply: FastifyReply, way: Way): Promise<FastifyReply> => {
    const { keyed } = request
    if (!keyed) return sendText(reply, await written(db, request.log, way))
    const write = keyedWrite(request, keyed)
    const repeatAnswer = (kept: StoredResponse) => repeat(limiter, request, reply, write, kept)
    if (keyed.kept) return repeatAnswer(keyed.kept)
    const deadline = performance.now() + WAIT_MS
    for (let first = underWayHere.get(keyed.id); first; first = underWayHere.get(keyed.id)) {
      if (!(await settlesBefore(first, deadline))) return giveUp(request)
      const kept = await findStoredResponse(db, write, keyed.userId)
      if (kept) return repeatAnswer(kept)
    }
    const mine = carryOut(request, write, keyed, way, deadline).finally(() => underWayHere.delete(keyed.id))
    underWayHere.set(keyed.id, mine)
    const answer = await mine
    if (answer !== 'taken') return sendText(reply, answer)
    const kept = await findStoredResponse(db, write, keyed.userId)
    return kept ? repeatAnswer(kept) : giveUp(request)
  }

  /** `taken`: another process has stored a response under this key in the meantime. */
  async function carryOut(
    request: FastifyRequest,
    write: IdempotentWrite,
    { slotDue, userId }: IdempotentRequest,
    { act, atOnce }: Way,
    deadline: number
  ): Promise<TextResponse | 'taken'> {
    if (slotDue) await takeSlot(limiter, request)
    const answered = (response: AnyResponse) => ({ ...write, ...textsOf(response).kept, patienceMs: SOON_MS })
    const answer = atOnce && (await writtenAtOnce(request.log, atOnce, answered))
    if (answer) return answer
    const soon = await attempt(SOON_MS)
    if (soon !== 'held') return soon
    if (waiters >= waitersMax) return giveUp(request)
    waiters++
    const late = await attempt(Math.max(1, deadline - performance.now())).finally(() => waiters--)
    return late === 'held' ? giveUp(request) : late

    async function attempt(patienceMs: number): Promise<TextResponse | 'taken' | 'held'> {
      const lost: ('taken' | 'held')[] = []
      try {
        return await inTransaction(db, request.log, act, {
          async before(tx) {
            const claim = await claimKey(tx, write, patienceMs)
            if (claim === 'mine') return
            lost.push(claim)
            throw new Error(`the key is ${claim}`)
          },
          after: (tx, answer) => storeResponse(tx, write, { ...answer, teamId: request.teamWritten, userId })
        })
      } catch (error) {
        if (lost[0]) return lost[0]
        throw error
      }
    }
  }
}

/** Responds to a key that was used before: with the stored response, which counts against no limit, or with a refusal, which
 * does. */
async function repeat(
  limiter: Limiter,
  request: FastifyRequest,
  reply: FastifyReply,
  write: IdempotentWrite,
  kept: StoredResponse
): Promise<FastifyReply> {
  try {
    assertSameWrite(write, kept)
  } catch (refusal) {
    if (request.keyed?.slotDue) await takeSlot(limiter, request)
    throw refusal
  }
  await freeSlot(request)
  return replay(reply, kept)
}

async function giveUp(request: FastifyRequest): Promise<never> {
  await freeSlot(request)
  throw underWay()
}

/** A request without effect neither keeps a slot nor takes one later, except where the limit bounds the reading of bodies. */
async function freeSlot(request: FastifyRequest): Promise<void> {
  if (request.routeOptions.config.access?.limitsRepeats) return
  request.keyed!.slotDue = false
  await request.giveBackSlot()
}

/** A write without a key. */
const written = async (db: Db, log: FastifyBaseLogger, { act, atOnce }: Way): Promise<TextResponse> =>
  (atOnce && (await writtenAtOnce(log, atOnce, () => null))) ?? inTransaction(db, log, act)

/** `null`: nothing is written. */
async function writtenAtOnce(
  log: FastifyBaseLogger,
  atOnce: NonNullable<Way['atOnce']>,
  answered: WriteAtOnce['answered']
): Promise<TextResponse | null> {
  const effects = createEffects(log)
  const response = await atOnce({ ...effects.means, answered }).catch(effects.undone)
  if (!response) {
    await effects.undo()
    return null
  }
  effects.done()
  return textsOf(response).given
}

/** @param key claims the key before the effect and stores the response after it. */
async function inTransaction(
  db: Db,
  log: FastifyBaseLogger,
  act: Way['act'],
  key?: { before(tx: Tx): Promise<void>; after(tx: Tx, kept: TextResponse): Promise<void> }
): Promise<TextResponse> {
  const effects = createEffects(log)
  const answer = await db
    .transaction(async (tx) => {
      await key?.before(tx)
      const { given, kept } = textsOf(await act({ tx, ...effects.means }))
      await key?.after(tx, kept)
      return given
    })
    .catch(effects.undone)
  effects.done()
  return answer
}

/** What a write does besides its rows, once it is known how it ended. */
function createEffects(log: FastifyBaseLogger) {
  const committed: (() => void)[] = []
  const rolledBack: (() => Promise<unknown>)[] = []
  const undo = async () => {
    for (const effect of rolledBack)
      await effect().catch((err) => log.error({ err }, 'a write was rolled back, and an effect of its rollback failed'))
  }
  return {
    means: {
      afterCommit: (effect: () => void) => void committed.push(effect),
      afterRollback: (effect: () => Promise<unknown>) => void rolledBack.push(effect)
    },
    done() {
      for (const effect of committed)
        try {
          effect()
        } catch (err) {
          log.error({ err }, 'a write was committed, and an effect of its commit failed')
        }
    },
    undo,
    async undone(error: unknown): Promise<never> {
      await undo()
      throw error
    }
  }
}

/** What the caller gets, and what a repeated request gets. */
function textsOf({ status = 200, body, kept }: AnyResponse): { given: TextResponse; kept: TextResponse } {
  const given = { status, body: textOf(body) }
  return { given, kept: { status, body: keptBody(kept ? textOf(kept) : given.body) } }
}

const textOf = (body: object | string | undefined): string =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)

/** Whether `work` settles before `deadline` on the monotonic clock. */
async function settlesBefore(work: Promise<unknown>, deadline: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true
  )
  return pTimeout(settled, { milliseconds: Math.max(1, deadline - performance.now()), fallback: () => false })
}
