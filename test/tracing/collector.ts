import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CollectedSpan = {
  name: string
  traceId: string
  spanId: string
  parentSpanId: string
  attributes: Record<string, unknown>
}

type Wire = {
  resourceSpans: {
    scopeSpans: {
      spans: (Omit<CollectedSpan, 'attributes' | 'parentSpanId'> & {
        parentSpanId?: string
        attributes: { key: string; value: Record<string, unknown> }[]
      })[]
    }[]
  }[]
}

/** An OpenTelemetry collector that stores everything received by OTLP over HTTP. */
export const startCollector = async () => {
  const spans: CollectedSpan[] = []
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    texts.push(text)
    for (const { scopeSpans } of (JSON.parse(text) as Wire).resourceSpans)
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({
          name: span.name,
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? '',
          attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
        })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** All sent texts, unchanged. */
    sent: () => texts.join('\n'),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
