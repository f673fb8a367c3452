import { z } from 'zod'
import { type EventResource, type EventType, eventTypes, resourceOf } from '../../src/events/types.ts'
import { BalanceShortage } from '../../src/modules/payments/attention/schema.ts'
import { type Json, objectAt, refTo, withSchemas } from './walk.ts'

/** Events about one kind of resource. `data`: names of the resource's schemas. */
type EventFamily = { name: string; types: readonly string[]; data: readonly string[]; description: string }

type Family = Omit<EventFamily, 'types'>

/** The type of an event names its kind of resource. `data` is the resource as the API returns it. */
const ofResource: Readonly<Record<EventResource, Family>> = {
  balance: {
    name: 'BalanceEvent',
    data: ['Account', 'Workspace'],
    description: 'The balance of the account, or of the team of `workspace_id`, changed.',
  },
  topup: { name: 'TopupEvent', data: ['Topup'], description: 'A top-up ended.' },
  payment: { name: 'PaymentEvent', data: ['Payment'], description: 'A payment was created, or its status changed.' },
  payment_batch: {
    name: 'PaymentBatchEvent',
    data: ['PaymentBatch'],
    description: 'A batch of payments was created, or its status changed.',
  },
  approval: { name: 'ApprovalEvent', data: ['Approval'], description: 'An approval was requested or decided.' },
  mandate: { name: 'MandateEvent', data: ['IntentMandate'], description: 'A mandate began or ended.' },
  beneficiary: { name: 'BeneficiaryEvent', data: ['Beneficiary'], description: 'A beneficiary was created or changed.' },
  policy: { name: 'PolicyEvent', data: ['SpendingPolicy'], description: 'A spending policy was created or changed.' },
  api_key: { name: 'ApiKeyEvent', data: ['ApiKey'], description: 'An API key was created, rotated or revoked.' },
  grant: { name: 'GrantEvent', data: ['Grant'], description: 'A grant was created, changed or revoked.' },
  identity: { name: 'IdentityEvent', data: ['Identity'], description: 'A sign-in method was linked or unlinked.' },
  passkey: { name: 'PasskeyEvent', data: ['Passkey'], description: 'A passkey was added to the account, or removed.' },
  session: { name: 'SessionEvent', data: ['Session'], description: 'A browser signed in, or was signed out.' },
  member: { name: 'MemberEvent', data: ['Member'], description: 'A membership began, changed or ended.' },
  workspace: { name: 'WorkspaceEvent', data: ['Workspace'], description: 'The workspace was frozen, unfrozen or changed.' },
}

/** Overrides `ofResource` for these types. */
const ofType: Readonly<Partial<Record<EventType, Family>>> = {
  'balance.short': {
    name: 'BalanceShortEvent',
    data: ['BalanceShortage'],
    description:
      'The balance does not cover the scheduled payments. Sent two days and again four hours before they are due, or at once if less time is left.',
  },
  'payment.refused': {
    name: 'PaymentRefusedEvent',
    data: ['RefusedPayment'],
    description: 'A requested payment was refused; no money moved.',
  },
  'member.invited': { name: 'InvitationEvent', data: ['Invitation'], description: 'An account was invited to the workspace.' },
}

const resources = Object.keys(ofResource) as EventResource[]

export const eventFamilies: readonly EventFamily[] = [
  ...resources.map((resource) => ({
    ...ofResource[resource],
    types: eventTypes.filter((type) => resourceOf(type) === resource && !ofType[type]),
  })),
  ...Object.entries(ofType).map(([type, family]) => ({ ...family, types: [type] })),
]

/** A lone schema stays a reference, which generators turn into a named type. */
const anyOf = ([first = '', ...others]: readonly string[]): Json =>
  others.length === 0 ? refTo(first) : { anyOf: [first, ...others].map(refTo) }

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

/** Sent only on the stream, about the stream itself. */
const reset = eventSchema(
  { type: 'string', enum: ['stream.reset'] },
  {
    type: 'object',
    description: 'The reason, and how far back events are stored.',
    properties: { message: { type: 'string' }, retention_days: { type: 'integer', minimum: 1, maximum: 3650 } },
    required: ['message', 'retention_days'],
  },
  'The events since `Last-Event-ID` are no longer stored: read the resources again.',
  { type: 'null' },
)

/** The data of an event that no route returns. Like responses, it may get additional fields. */
const { additionalProperties: _, ...shortage } = objectAt(
  objectAt(z.toJSONSchema(BalanceShortage) as Json, '$defs'),
  'BalanceShortage',
)

/** Adds a schema for each kind of event, and `Event` as their union, discriminated by `type`. */
export const addEventSchemas = (document: Json): Json => {
  const schemas = eventFamilies.map(({ name, types, data, description }) => [
    name,
    eventSchema(
      { type: 'string', enum: types },
      { ...anyOf(data), description: 'The resource after the event, as REST returns it.' },
      description,
      id('evt'),
    ),
  ])
  const mapping = eventFamilies.flatMap(({ name, types }) => types.map((type) => [type, `#/components/schemas/${name}`]))
  const union = (names: readonly string[], more: [string, string][]): Json => ({
    oneOf: names.map(refTo),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries([...mapping, ...more]) },
  })
  const names = eventFamilies.map(({ name }) => name)
  return withSchemas(document, {
    ...Object.fromEntries(schemas),
    BalanceShortage: shortage,
    StreamResetEvent: reset,
    Event: {
      ...union(names, []),
      description: 'An event, distinguished by `type`. `data` is the resource as REST returns it.',
    },
    StreamEvent: {
      ...union([...names, 'StreamResetEvent'], [['stream.reset', '#/components/schemas/StreamResetEvent']]),
      description: 'The `data:` of the stream: an event, or the notification that some events are missing.',
    },
  })
}
