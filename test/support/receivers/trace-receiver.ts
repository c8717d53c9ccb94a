// A collector of traces (OTLP over HTTP, protobuf) that stores the spans it receives.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import protobuf from 'protobufjs'

// What of opentelemetry/proto/trace/v1/trace.proto the tests look at.
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message Status { string message = 2; int32 code = 3; }
`)
const Request = root.lookupType('Request')

interface KeyValue {
  key: string
  value: { stringValue?: string; intValue?: string; boolValue?: boolean; doubleValue?: number }
}

export interface ReceivedSpan {
  service: string
  traceId: string
  spanId: string
  /** '' of a root. */
  parentId: string
  name: string
  attributes: Record<string, unknown>
  events: { name: string; attributes: Record<string, unknown> }[]
  status: { message?: string; code?: number }
}

const attributesOf = (list: KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value ?? {})[0]]))

export async function startTraceReceiver() {
  const spans: ReceivedSpan[] = []
  const bodies: Buffer[] = []
  const requests: { path: string | undefined; headers: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    requests.push({ path: request.url, headers: request.headers })
    bodies.push(body)
    spans.push(...spansOf(body))
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** Everything that was sent, as text: for words that must not be in it. */
    text: (): string => Buffer.concat(bodies).toString('latin1'),
    /** The spans of the trace in which a job was submitted, once its request's span is there. */
    ofJob(jobId: string): ReceivedSpan[] {
      const submitted = spans.find(
        ({ name, attributes }) => name === 'POST /api/jobs/submit' && attributes['job.id'] === jobId
      )
      return submitted ? spans.filter(({ traceId }) => traceId === submitted.traceId) : []
    },
    spans,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

function spansOf(body: Buffer): ReceivedSpan[] {
  // biome-ignore lint/suspicious/noExplicitAny: decoded by the message above.
  const request = Request.toObject(Request.decode(body), { bytes: String, longs: String }) as any
  const hex = (base64 = '') => Buffer.from(base64, 'base64').toString('hex')
  return (request.resourceSpans ?? []).flatMap(
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    ({ resource, scopeSpans = [] }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      scopeSpans.flatMap(({ spans = [] }: any) =>
        // biome-ignore lint/suspicious/noExplicitAny: as above.
        spans.map((span: any) => ({
          service: attributesOf(resource?.attributes)['service.name'],
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentId: hex(span.parentSpanId),
          name: span.name,
          attributes: attributesOf(span.attributes),
          // biome-ignore lint/suspicious/noExplicitAny: as above.
          events: (span.events ?? []).map((event: any) => ({
            name: event.name,
            attributes: attributesOf(event.attributes)
          })),
          status: span.status ?? {}
        }))
      )
  )
}
