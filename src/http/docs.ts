import { type FastifyReply, fastify } from 'fastify'
import type { App } from './app-type.ts'

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Payments service: API reference</title>
  </head>
  <body>
    <div id="app"></div>
    <noscript>This reference needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="/docs/js/scalar.js"></script>
    <script src="/docs/js/start.js"></script>
  </body>
</html>
`

/** Nothing is loaded from elsewhere: no fonts, no telemetry, no proxy, no assistant. */
const start = `Scalar.createApiReference('#app', {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
})
`

/** The reference writes its own style sheets into the page; scripts are limited to our own files, as everywhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const sendPage = (reply: FastifyReply) =>
  reply.header('content-security-policy', contentSecurityPolicy).type('text/html; charset=utf-8').send(page)

/**
 * The reference's script (4 MB) is read from its plugin when the reference is first opened: loaded at the start it would cost every process
 * 30 MB and a fifth of a second.
 */
const takeScript = async (): Promise<Buffer> => {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const host = fastify()
  await host.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await host.inject('/docs/js/scalar.js')
  await host.close()
  return rawPayload
}

/**
 * The interactive reference at /docs. The script comes from its plugin; the plugin's own page would start it with inline code, ours does
 * not.
 */
export const registerDocs = async (app: App): Promise<void> => {
  let script: Promise<Buffer> | undefined
  const sendScript = (reply: FastifyReply, text: string | Buffer) =>
    reply.type('application/javascript; charset=utf-8').send(text)
  app.get('/docs', async (_request, reply) => sendPage(reply))
  app.get('/docs/', async (_request, reply) => sendPage(reply))
  app.get('/docs/js/start.js', async (_request, reply) => sendScript(reply, start))
  app.get('/docs/js/scalar.js', async (_request, reply) => {
    script ??= takeScript()
    return sendScript(reply, await script)
  })
}
