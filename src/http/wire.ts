import { z } from 'zod'
import { permissions } from '../auth/permissions.ts'
import { conflictReasons } from '../lib/conflict-reasons.ts'
import { catalogue, type ErrorCode } from '../lib/errors.ts'
import { type IdKind, idPrefixes, idProblem, parseId, type Uuid } from '../lib/ids.ts'
import { minorPattern } from '../lib/money.ts'

/** An id in a request: a TypeID on the wire, a UUID in code. In a path a malformed one is the same 404 as an unknown one. */
export const IdIn = (kind: IdKind) =>
  z
    .string()
    .transform((text, context): Uuid => {
      const id = parseId(kind, text)
      if (id) return id
      const near = idProblem(kind, text)
      const message = near ?? `must be an id that begins with ${idPrefixes[kind]}_`
      context.addIssue({ code: 'custom', message, params: { near: near !== undefined } })
      return z.NEVER
    })
    .meta({ description: `An id that begins with \`${idPrefixes[kind]}_\`.` })

export const IdOut = (kind: IdKind) => z.string().meta({ example: `${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q` })

export const byId = (kind: IdKind) => z.object({ id: IdIn(kind) })

/** Says what to send instead of this: the commonest mistake with money is a number, the next one a decimal point. */
const moneyProblem = ({ input }: { input?: unknown }): string => {
  if (input === undefined) return 'is required'
  const text = typeof input === 'number' || typeof input === 'string' ? String(input).trim() : ''
  if (minorPattern.test(text)) return `send "${text}", a string of minor units`
  const [, whole, cents = ''] = /^(\d{1,15})\.(\d{1,2})$/.exec(text.replaceAll(',', '')) ?? []
  if (whole !== undefined) return `has no decimal point: ${text} is "${BigInt(whole + cents.padEnd(2, '0'))}" in minor units`
  return 'must be a string of minor units: digits alone, without sign, point or leading zeros'
}

const Minor = z.string({ error: moneyProblem }).regex(minorPattern, { error: moneyProblem })

/** An amount in a request; 0 is an amount (a limit that lets nothing pass). */
export const MinorIn = Minor.transform(BigInt).meta({
  description: 'Minor units (cents) as a decimal string.',
  example: '150000',
})

/** An amount that moves money: above 0. */
export const PositiveMinorIn = Minor.refine((text) => text !== '0', 'must be above 0')
  .transform(BigInt)
  .meta({ description: 'Minor units (cents) as a decimal string, above 0.', example: '150000' })

export const MinorOut = z
  .string()
  .meta({ description: 'Minor units (cents) as a decimal string.', pattern: minorPattern.source, example: '150000' })
export const TimeOut = z.string().meta({ format: 'date-time', example: '2026-01-31T08:00:00.000Z' })
const timeProblem = ({ input }: { input?: unknown }): string => {
  if (input === undefined) return 'is required'
  const given = typeof input === 'string' ? /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/.exec(input) : null
  if (given) return `has no zone: send "${given[1]}T${(given[2] ?? '00:00').padEnd(8, ':00')}Z", or with an offset such as +03:00`
  return 'must be an RFC 3339 date and time with a zone, such as "2026-01-31T08:00:00Z"'
}

/** What the database and every reader of our answers can hold, whichever offset a time was given with. */
const earliestTime = Date.UTC(1970, 0, 1)
const latestTime = Date.UTC(9999, 0, 1)

export const TimeIn = z.iso.datetime({ offset: true, error: timeProblem }).transform((text, context) => {
  const time = new Date(text)
  if (time.getTime() >= earliestTime && time.getTime() < latestTime) return time
  context.addIssue({ code: 'custom', message: 'must be a time from the years 1970 to 9998' })
  return z.NEVER
})

/** A name that a person gave: 1..120 characters that aren't all blank. */
export const Name = z.string().trim().min(1).max(120)

/** What a caller notes on a record for itself. */
export const Metadata = z
  .record(z.string().min(1).max(200), z.string().max(200))
  .refine((entries) => Object.keys(entries).length <= 20, 'may have at most 20 keys')
  .meta({ description: 'At most 20 keys of at most 200 characters, for your own references.', example: { invoice: '2026-0117' } })

export const isoTime = (time: Date): string => time.toISOString()
export const isoTimeOrNull = (time: Date | null): string | null => (time ? time.toISOString() : null)

const FieldProblem = z.object({
  path: z
    .string()
    .meta({ description: 'Where: `amount_minor`, `spending_controls.daily_limit_minor`.', example: 'amount_minor' }),
  message: z.string().meta({ example: 'send "5000", a string of minor units' }),
})

export const ErrorDetails = z
  .looseObject({
    request_id: z
      .string()
      .meta({ description: 'Names the request in our logs.', example: '5f1a2b9e-3f0c-4c57-9a6e-0d7c1f8e2b11' }),
    doc_url: z.string().meta({ description: 'A page that explains the code and what to do.' }),
    param: z.string().optional().meta({ description: 'The one field, parameter or header that is to blame.' }),
    fields: z.array(FieldProblem).optional().meta({ description: 'What a 400 is about.' }),
    field: z
      .string()
      .optional()
      .meta({ description: 'Of a 404: the field or header whose id names nothing. Of a signature: what is wrong.' }),
    reason: z
      .string()
      .optional()
      .meta({ enum: Object.keys(conflictReasons), description: 'Why there is a conflict.' }),
    required_permission: z.string().optional().meta({ enum: permissions, description: 'What the credential lacks.' }),
    capability: z.string().optional().meta({ description: 'What the account may not do.' }),
    decision: z
      .unknown()
      .optional()
      .meta({ documentedAs: 'Decision', description: 'Of `policy_denied`: every rule that was looked at.' }),
    available_minor: z
      .string()
      .optional()
      .meta({ pattern: minorPattern.source, description: 'Of `insufficient_funds`, for those who may read the account.' }),
    requested_minor: z.string().optional().meta({ pattern: minorPattern.source }),
    recovered_address: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Of `invalid_signature`: the wallet that made the signature.' }),
    expected: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Of `invalid_signature`: what the signed message must say.' }),
  })
  .meta({ id: 'ErrorDetails', description: 'What helps to mend the request. More fields may come.' })

export const ErrorEnvelope = z
  .object({
    error: z.string().meta({ enum: Object.keys(catalogue), description: 'What a program decides by; the list may grow.' }),
    message: z.string().meta({ description: 'A sentence for a person.' }),
    details: ErrorDetails.optional(),
  })
  .meta({
    id: 'Error',
    description: 'Every refusal has this shape. details.request_id names the request; details.fields tells what a 400 is about.',
  })

type Response = { description: string; content: { 'application/json': { schema: typeof ErrorEnvelope } } }

const codesOf = new WeakMap<object, readonly ErrorCode[]>()

const response = (codes: readonly ErrorCode[]): Response => {
  const described: Response = {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code][1]}`).join(' '),
    content: { 'application/json': { schema: ErrorEnvelope } },
  }
  codesOf.set(described, codes)
  return described
}

/** The responses of the refusals that a route can make, grouped by status, for the OpenAPI document. */
export const refusals = (...codes: ErrorCode[]): Record<number, Response> => {
  const byStatus = Map.groupBy(new Set(codes), (code) => catalogue[code][0])
  return Object.fromEntries([...byStatus].map(([status, of]) => [status, response(of)]))
}

/** What `refusals` was asked for, of any of its responses. */
export const codesIn = (responses: Readonly<Record<string, unknown>>): ErrorCode[] =>
  Object.values(responses).flatMap((described) =>
    typeof described === 'object' && described ? (codesOf.get(described) ?? []) : [],
  )

/** 204: an answer without a body. */
export const NoContent = z.undefined().meta({ description: 'Done; there is no body.' })
