import { type Json, refTo, withSchemas } from '../http/openapi-walk.ts'
import type { EventFamily } from './types.ts'

const nullable = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] })

const id = (prefix: string): Json => ({ type: 'string', examples: [`${prefix}_01h455vb4pex5vsknk084sn02q`] })

const eventSchema = (type: Json, data: Json, description: string, eventId: Json): Json => ({
  type: 'object',
  description,
  properties: {
    id: eventId,
    type,
    created_at: { type: 'string', format: 'date-time' },
    account_id: id('acc'),
    workspace_id: nullable(id('wsp')),
    data,
  },
  required: ['id', 'type', 'created_at', 'account_id', 'workspace_id', 'data'],
})

/** Sent only on the stream: it is about the stream. */
const reset = eventSchema(
  { type: 'string', enum: ['stream.reset'] },
  {
    type: 'object',
    properties: { message: { type: 'string' }, retention_days: { type: 'integer', minimum: 1, maximum: 3650 } },
    required: ['message', 'retention_days'],
  },
  'The events since `Last-Event-ID` are no longer stored: read the resources again.',
  { type: 'null' },
)

/** `Event`: a union of all kinds, discriminated by `type`. */
export const nameEvents = (document: Json, families: readonly EventFamily[]): Json => {
  const schemas = families.map(({ name, types, data, description }) => [
    name,
    eventSchema({ type: 'string', enum: types }, refTo(data), description, id('evt')),
  ])
  const mapping = families.flatMap(({ name, types }) => types.map((type) => [type, `#/components/schemas/${name}`]))
  const union = (names: readonly string[], more: [string, string][]): Json => ({
    oneOf: names.map(refTo),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries([...mapping, ...more]) },
  })
  const names = families.map(({ name }) => name)
  return withSchemas(document, {
    ...Object.fromEntries(schemas),
    StreamResetEvent: reset,
    Event: {
      ...union(names, []),
      description: 'Something that happened, distinguished by `type`; `data` is the resource as REST returns it.',
    },
    StreamEvent: {
      ...union([...names, 'StreamResetEvent'], [['stream.reset', '#/components/schemas/StreamResetEvent']]),
      description: 'What `data:` of the stream holds: an event, or the news that some are missing.',
    },
  })
}
