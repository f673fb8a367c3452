import reference from '@scalar/fastify-api-reference'
import type { FastifyReply, FastifyRequest } from 'fastify'
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

/** Nothing is fetched from elsewhere: no fonts, no telemetry, no proxy, no assistant. */
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

/** The reference writes its own style sheets into the page; scripts stay what they are everywhere, our files alone. */
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

/** The interactive reference at /docs. Its plugin gives the script; its own page starts it from inline code, which ours does not. */
export const registerDocs = async (app: App): Promise<void> => {
  app.get('/docs/js/start.js', async (_request, reply) => reply.type('application/javascript; charset=utf-8').send(start))
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: { url: '/openapi.json' },
    hooks: {
      onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        if (request.routeOptions.url?.endsWith('.js')) done()
        else sendPage(reply)
      },
    },
  })
}
