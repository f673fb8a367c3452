// Where spans begin, without knowing what makes them: OpenTelemetry is loaded by the process when it is configured (process/tracing.ts).
// Until then each of these functions only calls its work.

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export type Tracing = {
  span: <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>) => Promise<T>
  /** A span that goes on where `traceparent` (W3C Trace Context) left off, in any process. */
  continued: <T>(traceparent: string, name: string, attributes: SpanAttributes, work: () => Promise<T>) => Promise<T>
  /** Where the current span is, for what continues it later. */
  traceparent: () => string | null
  ids: () => { trace_id: string; span_id: string } | undefined
  /** Watches the requests of a Fastify instance. */
  watch: (app: object) => Promise<void>
}

let tracing: Tracing | undefined

/** Once, before the service is built. Undefined ends it. */
export const installTracing = (installed: Tracing | undefined): void => {
  tracing = installed
}

export const isTracing = (): boolean => tracing !== undefined

export const inSpan = <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> =>
  tracing ? tracing.span(name, attributes, work) : work()

export const continueTrace = <T>(
  traceparent: string | null,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> => {
  if (!tracing) return work()
  return traceparent === null ? tracing.span(name, attributes, work) : tracing.continued(traceparent, name, attributes, work)
}

export const currentTraceparent = (): string | null => tracing?.traceparent() ?? null

/** What a line of the log carries, so that it is found from a trace and a trace from it. */
export const traceFields = (): Record<string, string> => tracing?.ids() ?? {}

export const watchRequests = async (app: object): Promise<void> => tracing?.watch(app)
