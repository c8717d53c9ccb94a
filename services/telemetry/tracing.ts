// Traces (OpenTelemetry) from the request through the workflow to the activity. Off unless OTEL_EXPORTER_OTLP_ENDPOINT is
// set: without it, no module of OpenTelemetry is loaded, so this file imports only types until tracing starts.
//
// A job is dispatched later, possibly by another process, so its row stores its place in the trace (W3C traceparent).
import type { Attributes, Span as OtelSpan } from '@opentelemetry/api'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { WorkflowClientInterceptor } from '@temporalio/client'
import type { WorkerOptions } from '@temporalio/worker'
import pTimeout from 'p-timeout'
import { codeOf } from '../../domain/errors.js'

export interface Span {
  /** Its place in the trace, as W3C traceparent. */
  traceParent: string
  /** @param error marks the span as failed; a code, never a message. */
  end(attributes?: Attributes, error?: string): void
}

export interface SpanOptions {
  kind?: 'server' | 'consumer'
  /** The traceparent of the parent span; by default the active span, if any. */
  parent?: string | null
  attributes?: Attributes
}

export interface Tracing {
  /** Starts a span that the caller ends. */
  begin(name: string, options?: SpanOptions): Span
  /** Runs `work` in a span, which is the parent of all spans in it. */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>
  /** Runs `work` as if in the span that `traceParent` names. */
  within<T>(traceParent: string | null, work: () => Promise<T>): Promise<T>
  /** Passes the trace on to workflows at their start. */
  workflowClient: WorkflowClientInterceptor[]
  /** For a worker whose workflow bundle is the traced one. */
  worker: Pick<WorkerOptions, 'interceptors' | 'sinks'>
  /** Sends the remaining spans, for at most `CLOSE_MS`. */
  close(): Promise<void>
}

export interface TracingSettings {
  /** Name of the service in the traces, unless OTEL_SERVICE_NAME is set. */
  serviceName: string
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
}

const CLOSE_MS = 3_000

/**
 * The endpoint that the environment names, or `null`: then there is no tracing.
 * @throws Error when it is not a valid address.
 */
export function readTracingEndpoint(env: NodeJS.ProcessEnv): string | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim()
  if (!endpoint) return null
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))
    throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as http://localhost:4318')
  return endpoint
}

/** Loads OpenTelemetry, which reads its other settings (OTEL_*) from the environment itself, and starts exporting. */
export async function startTracing({ serviceName, log }: TracingSettings): Promise<Tracing> {
  const [otel, { NodeTracerProvider }, { BatchSpanProcessor }, { OTLPTraceExporter }, resources, temporal] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-proto'),
      import('@opentelemetry/resources'),
      import('@temporalio/interceptors-opentelemetry')
    ])
  const { context, propagation, trace, ROOT_CONTEXT, SpanKind, SpanStatusCode } = otel
  const resource = resources.Resource.default()
    .merge(new resources.Resource({ 'service.name': serviceName }))
    .merge(resources.envDetectorSync.detect() as InstanceType<typeof resources.Resource>)
  const processor = new BatchSpanProcessor(discreetExporter(new OTLPTraceExporter(), log))
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] })
  provider.register()
  const tracer = trace.getTracer('quantum-job-service')

  const contextOf = (traceParent: string | null | undefined) =>
    traceParent ? propagation.extract(ROOT_CONTEXT, { traceparent: traceParent }) : ROOT_CONTEXT
  const start = (name: string, { kind, parent, attributes = {} }: SpanOptions) =>
    tracer.startSpan(
      name,
      { attributes, kind: kind === 'server' ? SpanKind.SERVER : kind ? SpanKind.CONSUMER : SpanKind.INTERNAL },
      parent === undefined ? context.active() : contextOf(parent)
    )
  const traceParentOf = (span: OtelSpan): string => {
    const carrier: { traceparent?: string } = {}
    propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier)
    return carrier.traceparent ?? ''
  }
  const end = (span: OtelSpan, attributes: Attributes = {}, error?: string) => {
    span.setAttributes({ ...attributes, ...(error && { 'error.type': error }) })
    if (error) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }
  const client = new temporal.OpenTelemetryWorkflowClientInterceptor()

  return {
    begin(name, options = {}) {
      const span = start(name, options)
      return { traceParent: traceParentOf(span), end: (attributes, error) => end(span, attributes, error) }
    },
    async span(name, options, work) {
      const span = start(name, options)
      try {
        const answer = await context.with(trace.setSpan(ROOT_CONTEXT, span), work)
        end(span)
        return answer
      } catch (error) {
        end(span, {}, codeOf(error) ?? (error as Error | null)?.name ?? 'unknown')
        throw error
      }
    },
    within: (traceParent, work) => context.with(contextOf(traceParent), work),
    // Only starts: the regular calls of sweeps to Temporal belong to no trace.
    workflowClient: [
      {
        start: (input, next) => client.start(input, next),
        startWithDetails: (input, next) => client.startWithDetails(input, next)
      }
    ],
    worker: {
      interceptors: {
        activity: [(ctx) => ({ inbound: new temporal.OpenTelemetryActivityInboundInterceptor(ctx) })]
      },
      sinks: { exporter: temporal.makeWorkflowExporter(processor, resource) }
    },
    close: () =>
      pTimeout(
        provider.shutdown().catch(() => {}),
        { milliseconds: CLOSE_MS, fallback: () => {} }
      )
  }
}

/** The attributes that leave the process. Libraries add others, with messages of errors, inputs and memos of workflows. */
const exportedAttributes = new Set([
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'error.type',
  'request.id',
  'job.id',
  'job.generation',
  'job.backend',
  'run_id',
  'runId',
  'workflowId',
  'workflowType',
  'namespace',
  'taskQueue',
  'temporalWorkflowId',
  'temporalActivityId'
])
const EXCEPTION_TYPE = 'exception.type'

/** Exports spans without the users' data, and logs once when the collector is away and when it is back. */
function discreetExporter(exporter: SpanExporter, log: TracingSettings['log']): SpanExporter {
  let away = false
  return {
    export: (spans, done) =>
      exporter.export(spans.map(discreet), (result) => {
        const failed = result.error !== undefined
        if (failed && !away) log.warn({ reason: result.error?.message }, 'traces cannot be sent')
        if (!failed && away) log.info({}, 'traces are sent again')
        away = failed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.()
  }
}

/** The span with known attributes only, and without messages of errors, which can contain output of a user's program. */
function discreet(span: ReadableSpan): ReadableSpan {
  const only = (attributes: Attributes, isAllowed: (name: string) => boolean): Attributes =>
    Object.fromEntries(Object.entries(attributes).filter(([name]) => isAllowed(name)))
  return Object.create(span, {
    attributes: { value: only(span.attributes, (name) => exportedAttributes.has(name)) },
    status: { value: { code: span.status.code } },
    events: {
      value: span.events.map((event) => ({
        ...event,
        attributes: only(event.attributes ?? {}, (name) => name === EXCEPTION_TYPE)
      }))
    }
  })
}
