import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, propagation, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Tracing } from '../lib/tracing.ts'

export type TracingOptions = { endpoint: string; serviceName: string }
export type RunningTracing = { tracing: Tracing; flush: () => Promise<void>; stop: () => Promise<void> }

const scope = 'payments-service'

/** Only its name: the message of a failed statement may contain its bound values. */
const fail = (span: Span, error: unknown): void => {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' })
}

const createTracing = (provider: NodeTracerProvider): Tracing => {
  const tracer = provider.getTracer(scope)
  const span: Tracing['span'] = (name, attributes, work) =>
    tracer.startActiveSpan(name, { attributes }, async (active) => {
      try {
        return await work()
      } catch (error) {
        fail(active, error)
        throw error
      } finally {
        active.end()
      }
    })
  return {
    span,
    continued: (traceparent, name, attributes, work) =>
      context.with(propagation.extract(context.active(), { traceparent }), () => span(name, attributes, work)),
    traceparent: () => {
      const carrier: { traceparent?: string } = {}
      propagation.inject(context.active(), carrier)
      return carrier.traceparent ?? null
    },
    ids: () => {
      const current = trace.getActiveSpan()?.spanContext()
      return current && { trace_id: current.traceId, span_id: current.spanId }
    },
    watch: async (app) => {
      const requests = new FastifyOtelInstrumentation({
        instrumentHooks: false,
        // The operation names the span, and the route stands for its address: an address contains ids, codes that a person types, and in its
        // query whatever the caller searches for or a provider sends back.
        requestHook: (active: Span, request: FastifyRequest) => {
          const { config, url } = request.routeOptions
          const { operation } = config
          active.setAttribute('url.path', url ?? '')
          if (operation === undefined) return
          active.updateName(operation)
          active.setAttribute('operation', operation)
        },
      })
      requests.setTracerProvider(provider)
      await (app as FastifyInstance).register(requests.plugin())
    },
  }
}

/** Sends spans to a collector by OTLP over HTTP. Loaded only where an endpoint is configured: it costs memory and time. */
export const startTracing = ({ endpoint, serviceName }: TracingOptions): RunningTracing => {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  provider.register()
  return {
    tracing: createTracing(provider),
    flush: () => provider.forceFlush(),
    stop: async () => {
      await provider.shutdown()
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}
