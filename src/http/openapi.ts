import swagger from '@fastify/swagger'
import reference from '@scalar/fastify-api-reference'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { App } from './app-type.ts'
import { sessionCookie } from './authenticate.ts'

const about = `A payments service for people and software agents.

Amounts are decimal strings of minor units. Lists are \`{data, next_cursor}\`, newest first. Every refusal is \`{error, message, details}\`.
A POST that creates something honours \`Idempotency-Key\`. Real-time events come over \`GET /v1/notifications/stream\`.`

/** OpenAPI 3.1 from the routes' own schemas, and a reference to read it by. */
export const registerOpenapi = async (app: App, publicUrl: string): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Payments service', version: '1.0.0', description: about },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key (service_live_…), an OAuth access token or a dashboard token.',
          },
          session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'The cookie of a signed-in browser.' },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
    transform: createJsonSchemaTransform({}),
    transformObject: createJsonSchemaTransformObject({}),
  })
}

/** After every route has been registered. */
export const registerReference = async (app: App): Promise<void> => {
  app.get('/openapi.json', { config: { internal: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.send(app.swagger()),
  )
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: { url: '/openapi.json', telemetry: false, withDefaultFonts: false } as never,
  })
}
