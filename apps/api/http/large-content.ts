// Everything large that this process sends and receives, within budgets of memory (memory.ts) and within time: a reader that
// does not read cannot hold a response for ever.
import { finished, Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Db } from '../../../db/client.js'
import { type StoredContent, slicesOf } from '../../../db/stored-content.js'
import { type ByteBudget, busy, createByteBudget } from './byte-budget.js'
import { createCallerPace, type Paced } from './caller-pace.js'
import {
  bodyBytes,
  bodyPauseMs,
  DOWNLOAD_LIMIT_MS,
  LARGE_BYTES,
  memory,
  SLICE_MS,
  STALL_LIMIT_MS,
  STREAM_BYTES,
  shares,
  WAIT_MS,
  WAITING_MAX,
  WAITING_OF_CALLER_MAX
} from './memory.js'
import { type Sent, sent } from './response.js'

export interface LargeContent {
  budgets: Readonly<Record<BudgetName, ByteBudget>>
  /** Runs `work` on a package, seal or comparison while its bytes are held. @throws ServiceError `service_busy`. */
  within<T>(request: FastifyRequest, bytes: number, work: () => Promise<T>): Promise<T>
  /** Holds bytes until the response is sent or the connection ends. @throws ServiceError `service_busy`. */
  hold(request: FastifyRequest, reply: FastifyReply, bytes: number, of: BudgetName): Promise<void>
  /** Sends a stored content in slices, between two texts. @throws ServiceError `service_busy`. */
  sendStored(request: FastifyRequest, reply: FastifyReply, content: StoredContent, around?: Around): Promise<Sent>
  /** A stream that is destroyed when its reader takes too long. */
  timed(content: AsyncIterable<Buffer>): Readable
}

type BudgetName = 'transfers' | 'packages'

interface Around {
  before: string
  after: string
}

declare module 'fastify' {
  interface FastifyInstance {
    large: LargeContent
  }
}

export interface LargeContentOptions {
  db: Db
  /** Replaces the sizes of the budgets, and the times, for tests. */
  limits?: { bytes?: number; share?: number; waitMs?: number; stallMs?: number } | undefined
}

export default fp(
  async (app: FastifyInstance, { db, limits = {} }: LargeContentOptions) => {
    const { waitMs = WAIT_MS, stallMs = STALL_LIMIT_MS } = limits
    const shareOf = (of: BudgetName) => limits.share ?? shares[of]
    const budgetOf = (of: BudgetName) =>
      createByteBudget({
        bytes: limits.bytes ?? memory[of],
        share: shareOf(of),
        waitMs,
        waitingMax: WAITING_MAX,
        waitingOfCallerMax: WAITING_OF_CALLER_MAX
      })
    const budgets = { transfers: budgetOf('transfers'), packages: budgetOf('packages') }
    const pace = createCallerPace(SLICE_MS)
    const bodyPace = createCallerPace(0)
    // Requests that hold bytes for their response; a response is counted once.
    const counted = new WeakSet<FastifyRequest>()

    async function take(request: FastifyRequest, wanted: number, of: BudgetName): Promise<() => void> {
      const gone = new AbortController()
      const leave = () => gone.abort()
      request.raw.socket.once('close', leave)
      try {
        return await budgets[of].take(callerOf(request), Math.min(wanted, shareOf(of)), gone.signal)
      } catch (error) {
        await request.giveBackSlot()
        throw error
      } finally {
        request.raw.socket.off('close', leave)
      }
    }

    async function hold(request: FastifyRequest, reply: FastifyReply, wanted: number, of: BudgetName): Promise<void> {
      const release = await take(request, wanted, of)
      counted.add(request)
      finished(reply.raw, release)
    }

    app.decorate('large', {
      budgets,
      hold,
      async within(request, wanted, work) {
        const release = await take(request, wanted, 'packages')
        return work().finally(release)
      },
      async sendStored(request, reply, content, around = { before: '', after: '' }) {
        await hold(request, reply, STREAM_BYTES, 'transfers')
        const { paced, close } = pace.open(callerOf(request))
        const slices = slicesOf(db, content)
        finished(reply.raw, () => {
          close()
          void slices.return(undefined)
        })
        // Before the response begins, so that a content which cannot be read gets an error, and not half a response.
        const first = await paced(() => slices.next())
        reply.header(
          'content-length',
          Buffer.byteLength(around.before) + content.sizeBytes + Buffer.byteLength(around.after)
        )
        return sent(reply.send(timed(inSlices(paced, first, slices, around))))
      },
      timed
    })

    /** Destroyed when it takes too long, or when its reader takes nothing of it for a while. */
    function timed(content: AsyncIterable<Buffer>): Readable {
      const late = setTimeout(() => stream.destroy(new Error('the download took too long')), DOWNLOAD_LIMIT_MS)
      let stalled: NodeJS.Timeout | undefined
      async function* watched() {
        for await (const piece of content) {
          clearTimeout(stalled)
          stalled = setTimeout(() => stream.destroy(new Error('the reader stopped reading')), stallMs)
          yield piece
        }
      }
      // The next piece is made when the reader has taken the one before.
      const stream = Readable.from(watched(), { objectMode: false, highWaterMark: 1 })
      finished(stream, () => {
        clearTimeout(late)
        clearTimeout(stalled)
      })
      return stream
    }

    // A large body holds bytes from before it is read. Only authenticated callers can send one.
    app.addHook('preParsing', (request, reply, payload, done) => {
      const length = bodyLength(request)
      if (length <= LARGE_BYTES || !request.actor) return done(null, payload)
      const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
      hold(request, reply, bodyBytes(length, isJson), 'transfers')
        .then(() => (isJson ? bodyTurn(request, length) : undefined))
        .then(
          () => done(null, payload),
          (error) => done(error)
        )
    })

    /** Waits until a JSON body of the caller may be read. */
    async function bodyTurn(request: FastifyRequest, length: number): Promise<void> {
      const { paced, close } = bodyPace.open(callerOf(request))
      const ms = bodyPauseMs(length)
      await paced(async () => {}, ms)
      // The pause continues after the request has ended: bodies that a caller sends one after the other have the same pace.
      setTimeout(close, ms).unref()
    }

    // A large response that was made whole. The work of a write is done, so its response is not refused.
    app.addHook('onSend', (request, reply, payload, done) => {
      const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
      if (size <= LARGE_BYTES || reply.statusCode >= 400) return done(null, payload)
      const reads = request.method === 'GET' || request.method === 'HEAD'
      if (!counted.has(request)) {
        const caller = callerOf(request)
        const release = reads
          ? budgets.transfers.tryTake(caller, Math.min(size, shareOf('transfers')))
          : budgets.transfers.force(caller, size)
        if (!release) return done(busy())
        finished(reply.raw, release)
      }
      const late = setTimeout(() => reply.raw.destroy(new Error('the download took too long')), DOWNLOAD_LIMIT_MS)
      finished(reply.raw, () => clearTimeout(late))
      done(null, payload)
    })
  },
  { name: 'large-content', dependencies: ['access'] }
)

/** Whose share is used. All keys of a user share one with the user. */
const callerOf = ({ actor }: FastifyRequest): string => actor?.user.id ?? 'public'

/** What a body can have: what it states, or else the limit of its route. */
function bodyLength({ headers, routeOptions }: FastifyRequest): number {
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  return headers['transfer-encoding'] === undefined ? 0 : (routeOptions.bodyLimit ?? 0)
}

async function* inSlices(
  paced: Paced,
  first: IteratorResult<Buffer, void>,
  slices: AsyncGenerator<Buffer, void>,
  { before, after }: Around
): AsyncGenerator<Buffer> {
  if (before !== '') yield Buffer.from(before)
  for (let next = first; !next.done; next = await paced(() => slices.next())) yield next.value
  if (after !== '') yield Buffer.from(after)
}
