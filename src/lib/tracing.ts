// Starts spans without importing OpenTelemetry: the process loads that when it is configured (process/tracing.ts). Until then each of these
// functions only runs its work.

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export type Tracing = {
  span: <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>) => Promise<T>
  /** A span that continues `traceparent` (W3C Trace Context), in any process. */
  continued: <T>(traceparent: string, name: string, attributes: SpanAttributes, work: () => Promise<T>) => Promise<T>
  /** The current span's context, for work that continues it later. */
  traceparent: () => string | null
  ids: () => { trace_id: string; span_id: string } | undefined
  /** Traces the requests of a Fastify instance. */
  watch: (app: object) => Promise<void>
}

let tracing: Tracing | undefined

/** Called once, before the service is built. Undefined ends tracing. */
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

/** The fields that connect a log line with its trace. */
export const traceFields = (): Record<string, string> => tracing?.ids() ?? {}

export const watchRequests = async (app: object): Promise<void> => tracing?.watch(app)
