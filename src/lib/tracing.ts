import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api'

// OpenTelemetry's API does nothing by itself. If tracing is configured, the process loads the SDK (process/tracing.ts).

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

type Watch = (app: object) => Promise<void>
let watch: Watch | undefined

/** Call this before the service is built. Undefined turns tracing off. */
export const installTracing = (installed: Watch | undefined): void => {
  watch = installed
}

const isTracing = (): boolean => watch !== undefined

export const inSpan = <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> => {
  if (!isTracing()) return work()
  return trace.getTracer('payments-service').startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work()
    } catch (error) {
      // The message of a failed query may contain its bound values.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' })
      throw error
    } finally {
      span.end()
    }
  })
}

/** Only within another span. Otherwise each poll that finds no work would create a trace every second. */
export const inChildSpan = <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> =>
  isTracing() && trace.getActiveSpan() ? inSpan(name, attributes, work) : work()

/** `traceparent`: W3C Trace Context from any process. */
export const continueTrace = <T>(
  traceparent: string | null,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> =>
  traceparent === null || !isTracing()
    ? inSpan(name, attributes, work)
    : context.with(propagation.extract(context.active(), { traceparent }), () => inSpan(name, attributes, work))

export const currentTraceparent = (): string | null => {
  const carrier: { traceparent?: string } = {}
  if (isTracing()) propagation.inject(context.active(), carrier)
  return carrier.traceparent ?? null
}

export const traceFields = (): Record<string, string> => {
  const current = isTracing() ? trace.getActiveSpan()?.spanContext() : undefined
  return current ? { trace_id: current.traceId, span_id: current.spanId } : {}
}

export const watchRequests = async (app: object): Promise<void> => watch?.(app)
