import swagger from '@fastify/swagger'
import type { FastifyContextConfig } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { App } from '../../src/http/app-type.ts'
import { sessionCookie } from '../../src/http/authenticate.ts'
import { version } from '../../src/lib/version.ts'
import { finishReference, tagOf } from './reference.ts'
import { writtenUrl } from './rendered.ts'
import { finishDocument, shareParts } from './shapes.ts'
import type { Json } from './walk.ts'

const about = `A payments service for people and software agents.

Amounts are decimal strings of minor units. Lists are \`{data, next_cursor}\`, newest first. Every error is \`{error, message, details}\`.
A POST that creates a resource supports \`Idempotency-Key\`. Real-time events come from \`GET /v1/notifications/stream\`.`

const toJsonSchema = createJsonSchemaTransform({})
const withComponents = createJsonSchemaTransformObject({})

const headerText = {
  'Idempotency-Key': 'A key of up to 255 printable characters. Repeating it returns the first answer and has no second effect.',
  'Workspace-Id': 'Only for callers without a grant: the workspace of this request, instead of the current one.',
}

/** Administration names its workspaces in parameters. */
const actsInWorkspace = ({ access }: FastifyContextConfig): boolean => access !== 'public' && access !== 'admin'

const headersFor = (config: FastifyContextConfig): (keyof typeof headerText)[] => [
  ...(config.idempotent ? (['Idempotency-Key'] as const) : []),
  ...(actsInWorkspace(config) ? (['Workspace-Id'] as const) : []),
]

/** Adds headers that all routes accept. In the routes' own schemas, they would be validated twice. */
const withHeaders = (input: ReturnType<typeof toJsonSchema>, config: FastifyContextConfig): ReturnType<typeof toJsonSchema> => {
  const names = headersFor(config)
  if (names.length === 0) return input
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: headerText[name] }]))
  return { ...input, schema: { ...input.schema, headers: { type: 'object', properties } } }
}

type Responses = Record<string, { content?: Record<string, unknown> }>

/** Adds the pages that browsers get instead of JSON errors. */
const addPages = (document: Json, operations: ReadonlySet<string>): Json => {
  for (const item of Object.values((document.paths ?? {}) as Record<string, Record<string, Json>>))
    for (const { operationId, responses } of Object.values(item))
      if (typeof operationId === 'string' && operations.has(operationId))
        for (const [status, { content }] of Object.entries(responses as Responses))
          if (Number(status) >= 400 && content) content['text/html'] = { schema: { type: 'string' } }
  return document
}

/** Registers OpenAPI 3.1, derived from the routes' schemas, and the page that shows it. */
export const registerOpenapi = async (app: App): Promise<void> => {
  const pages = new Set<string>()
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Payments service',
        version,
        description: about,
        contact: { name: 'The operator of this deployment', url: `${writtenUrl}/docs` },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: writtenUrl }],
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
    transform: (input) => {
      const config = input.route.config ?? {}
      if (config.pages && config.operation !== undefined) pages.add(config.operation)
      const { schema, ...route } = withHeaders(toJsonSchema(input), config)
      return {
        ...route,
        schema: { ...schema, ...(config.operation !== undefined && { tags: [tagOf(config.operation)] }) },
      }
    },
    transformObject: (input) =>
      shareParts(addPages(finishReference(finishDocument(withComponents(input)) as Json), pages)) as ReturnType<
        typeof withComponents
      >,
  })
}
