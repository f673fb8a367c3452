import { z } from 'zod'
import { type IdKind, idPrefixes, idProblem, parseId, type Uuid } from '../lib/ids.ts'
import { formatMajor, minorPattern } from '../lib/money.ts'
import { hiddenProblem, isPlainText, isVisible, shownOnly } from '../lib/text.ts'

/** Checks a text's length first and stops if it is too long, because normalising 64 KB of combining marks takes half a second. */
export const bounded = (max: number, error = `must have at most ${max} characters`) => z.string().max(max, { abort: true, error })

/** A request body that allows no other fields. `id`: its name in the API document. */
export const BodyIn = <Fields extends z.ZodRawShape>(id: string, fields: Fields) => z.strictObject(fields).meta({ id })

/** A response body. `id`: its name in the API document. */
export const RecordOut = <Fields extends z.ZodRawShape>(id: string, fields: Fields) => z.object(fields).meta({ id })

export const MessageDigest = bounded(64).regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest: 64 digits of 0-9 and a-f')

/** Tells which id belongs here, and whose the given one is if it has another prefix. */
export const idMessage = (kind: IdKind, text: string): string =>
  idProblem(kind, text) ?? `must be an id that begins with ${idPrefixes[kind]}_`

/** A TypeID in the API, a UUID in code. */
export const IdIn = (kind: IdKind) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : idMessage(kind, '')) })
    .max(100, { abort: true, error: idMessage(kind, '') })
    .transform((text, context): Uuid => {
      const id = parseId(kind, text)
      if (id) return id
      const message = idMessage(kind, text)
      context.addIssue({ code: 'custom', message, params: { near: idProblem(kind, text) !== undefined } })
      return z.NEVER
    })
    .describe(`An ID that begins with \`${idPrefixes[kind]}_\`.`)

/** The kind of id in each field, from which `presenter.ts` derives the prefix. */
export const idKinds = z.registry<{ kind: IdKind }>()

export const IdOut = (kind: IdKind) =>
  z
    .string()
    .register(idKinds, { kind })
    .meta({ example: `${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q` })

const splitAtCommas = (value: unknown): unknown => (typeof value === 'string' ? value.split(',') : value)

const itemsOf = <Item extends z.ZodType>(item: Item, atMost?: number) => {
  const items = z.array(item).min(1)
  return atMost === undefined ? items : items.max(atMost)
}

/** `?type=a&type=b`, or separated by commas. */
export const SeveralOf = <Item extends z.ZodType>(item: Item, atMost?: number) =>
  z.preprocess((value) => (Array.isArray(value) ? value.flatMap(splitAtCommas) : splitAtCommas(value)), itemsOf(item, atMost))

export const byId = (kind: IdKind) => z.object({ id: IdIn(kind) })

const notMinor = 'must be a string of minor units: digits alone, without sign, point or leading zeros'

/** Explains the two most common mistakes: a JSON number and a decimal point. */
const moneyProblem = ({ input }: { input?: unknown }): string => {
  if (input === undefined) return 'is required'
  const text = typeof input === 'number' || typeof input === 'string' ? shownOnly(String(input)) : ''
  if (minorPattern.test(text)) {
    const whole = text === '0' ? '0' : `${text}00`
    if (typeof input === 'number')
      return `is a number: send "${text}" if ${formatMajor(BigInt(text))} is meant, "${whole}" if ${formatMajor(BigInt(whole))} is meant; amounts are strings of minor units`
    return `send "${text}", a string of minor units`
  }
  const [, whole, cents = ''] = /^(\d{1,15})\.(\d{1,2})$/.exec(text.replaceAll(',', '')) ?? []
  if (whole !== undefined) return `has no decimal point: ${text} is "${BigInt(whole + cents.padEnd(2, '0'))}" in minor units`
  return /^[1-9]\d{18,}$/.test(text) ? 'must be at most 999999999999999999' : notMinor
}

const Minor = z
  .string({ error: moneyProblem })
  .max(40, { abort: true, error: notMinor })
  .regex(minorPattern, { error: moneyProblem })

/** 0 is allowed: as a limit it blocks everything. */
export const MinorIn = Minor.transform(BigInt).meta({
  description: 'Minor units (cents) as a decimal string.',
  example: '150000',
})

export const PositiveMinorIn = Minor.refine((text) => text !== '0', 'must be above 0')
  .transform(BigInt)
  .meta({ description: 'Minor units (cents) as a decimal string, above 0.', example: '150000' })

export const MinorOut = z
  .string()
  .meta({ description: 'Minor units (cents) as a decimal string.', pattern: minorPattern.source, example: '150000' })
export const TimeOut = z.string().meta({ format: 'date-time', example: '2026-01-31T08:00:00.000Z' })
const timeProblem = ({ input }: { input?: unknown }): string => {
  if (input === undefined) return 'is required'
  const parts = typeof input === 'string' ? /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/.exec(input) : null
  if (parts) return `has no zone: send "${parts[1]}T${(parts[2] ?? '00:00').padEnd(8, ':00')}Z", or with an offset such as +03:00`
  const [, time, zone] = typeof input === 'string' ? (/^(\d{4}-\d\d-\d\dT[\d:.]+) (\d\d:\d\d)$/.exec(input) ?? []) : []
  if (time !== undefined) return `has a space where a "+" was: in an address a "+" is written as %2B, so send ${time}%2B${zone}`
  return 'must be an RFC 3339 date and time with a zone, such as "2026-01-31T08:00:00Z"'
}

/** The range that the database and all readers can store. It applies to the instant, regardless of the offset. */
const earliestTime = Date.UTC(1970, 0, 1)
const latestTime = Date.UTC(9999, 0, 1)

export const TimeIn = z.iso.datetime({ offset: true, error: timeProblem }).transform((text, context) => {
  const time = new Date(text)
  if (time.getTime() >= earliestTime && time.getTime() < latestTime) return time
  context.addIssue({ code: 'custom', message: 'must be a time from the years 1970 to 9998' })
  return z.NEVER
})

const unseen = { error: ({ input }: { input?: unknown }) => hiddenProblem(String(input)) }

/** Before normalisation a text may be longer, because one letter may arrive as four characters. */
const rawText = (max: number) => bounded(4 * max, `must have at most ${max} characters`)

/** A text that other people read: one line, normalised, without invisible characters. Either empty or visible. */
export const Text = (max: number) =>
  rawText(max)
    .normalize('NFC')
    .refine((text) => text === '' || isVisible(text), 'must have something visible')
    .trim()
    .max(max)
    .refine(isPlainText, unseen)

/** Like `Text`, but never empty. */
export const VisibleText = (max: number) =>
  rawText(max)
    .normalize('NFC')
    .trim()
    .min(1, { abort: true })
    .max(max)
    .refine(isPlainText, unseen)
    .refine(isVisible, 'must have something visible')

export const Name = VisibleText(120)

export const Metadata = z
  .record(VisibleText(200), Text(200))
  .refine((entries) => Object.keys(entries).length <= 20, 'may have at most 20 keys')
  .meta({
    description: 'Up to 20 keys and values of 200 characters, for your own references.',
    example: { invoice: '2026-0117' },
  })

export const NoContent = z.undefined().describe('Success. There is no body.')

/** Keys with which a program matches a booked entry to its own records. */
export const RequestKeys = {
  idempotency_key: z
    .string()
    .nullable()
    .describe('The `Idempotency-Key` of the request that created the payment, its batch or the top-up.'),
  batch_id: IdOut('payment_batch').nullable(),
  batch_index: z.number().int().nullable().describe('The index of the payment in its batch, from 0.'),
}

/** Negative for outgoing money. */
export const SignedMinorOut = z.string().meta({ pattern: '^-?(0|[1-9]\\d{0,17})$', example: '-150000' })
