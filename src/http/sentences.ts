import { z } from 'zod'
import { closest } from '../lib/closest.ts'
import { meantName } from '../lib/did-you-mean.ts'
import { type FieldError, maxNamedFaults } from '../lib/errors.ts'
import { mayBeAccount, shownOnly } from '../lib/text.ts'

// Rewords a validator's findings so that they say what to send instead. A schema's own message takes precedence.

type Issue = z.core.$ZodRawIssue

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** Names a value to send only if the field's own checks accept it. A long number may be a destination, which no error repeats. */
const notText = (input: unknown, field: unknown): string => {
  const text = String(input)
  if (field instanceof z.ZodType && !field.safeParse(text).success) return 'must be a string'
  return mayBeAccount(text)
    ? 'must be a string: send it in quotes, with its leading zeros if it has any'
    : `must be a string: send "${text}"`
}

const wrongType = (expected: string, input: unknown, field: unknown): string => {
  if (input === undefined) return 'is required'
  const kind = kinds[expected] ?? `of the type ${expected}`
  if (input === null) return `must be ${kind}, not null`
  if (Array.isArray(input))
    return kind === kinds.object ? `must be ${kind}, not a list` : 'is given more than once, or as a list: send one value'
  if (expected === 'string' && typeof input !== 'object') return notText(input, field)
  if (expected === 'boolean' && (input === 'true' || input === 'false')) return `send ${input} without quotes`
  if ((expected === 'number' || expected === 'int') && typeof input === 'string' && /^-?\d+$/.test(input))
    return `send ${input} without quotes`
  return `must be ${kind}`
}

const wrongValue = (values: readonly unknown[], input: unknown): string => {
  if (input === undefined) return 'is required'
  const known = values.map(String)
  const text = typeof input === 'string' ? shownOnly(input) : undefined
  const plain = (value: string) => value.toLowerCase().replace(/[\s_-]+/g, '_')
  const same = text !== undefined && known.find((value) => plain(value) === plain(text))
  if (same) return `send "${same}"`
  const list = known.map((value) => `"${value}"`)
  if (list.length === 1) return `must be ${list[0]}`
  // The suggestion comes first, because the list may be long.
  const near = text === undefined ? undefined : closest(text, known)
  return `${near === undefined ? '' : `did you mean "${near}"? It `}must be one of ${list.join(', ')}`
}

const units = (origin: string, count: unknown): string => {
  const many = String(count) !== '1'
  if (origin === 'string') return many ? 'characters' : 'character'
  return many ? 'entries' : 'entry'
}

const ofSize = (origin: string): boolean => ['string', 'array', 'record', 'object', 'map', 'set'].includes(origin)

const tooSmall = (origin: string, minimum: unknown, inclusive: boolean): string => {
  if (!ofSize(origin)) return `must be ${inclusive ? 'at least' : 'above'} ${String(minimum)}`
  if (String(minimum) === '1') return 'must not be empty'
  return `must have at least ${String(minimum)} ${units(origin, minimum)}`
}

const tooBig = (origin: string, maximum: unknown): string =>
  ofSize(origin) ? `must have at most ${String(maximum)} ${units(origin, maximum)}` : `must be at most ${String(maximum)}`

export const fieldNames = (schema: unknown): string[] => {
  const shape = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape
  return shape ? Object.keys(shape) : []
}

/** The suggestion for an amount under another name includes what is wrong with its value, so that one correction is enough. */
const unknownField = (key: string, value: unknown, inst: unknown): string => {
  if (key === 'currency') return 'is not a known field: all amounts are in the currency of this service, so leave it out'
  const name = meantName(key, fieldNames(inst))
  if (name === undefined) return 'is not a known field'
  const field = name.endsWith('_minor') && inst instanceof z.ZodObject ? inst.shape[name] : undefined
  const problem = field instanceof z.ZodType ? field.safeParse(value).error?.issues[0]?.message : undefined
  return `is not a known field; did you mean "${name}"?${problem === undefined ? '' : ` ${name}: ${problem}`}`
}

const maxSuggestions = 10

/** A line for each unknown field, because an issue has one message for all of them. Only the first are compared with known names. */
const unknownFields = ({ keys, input, inst }: Extract<Issue, { code?: 'unrecognized_keys' }>): string =>
  keys
    .slice(0, maxSuggestions)
    .map((key) => unknownField(key, (input as Record<string, unknown> | undefined)?.[key], inst))
    .join('\n')

/** If a discriminator field selects one of several shapes, that field is missing or has another value. */
const wrongUnion = ({ input, discriminator, inst }: Extract<Issue, { code?: 'invalid_union' }>): string => {
  const values = discriminator === undefined ? undefined : (inst as z.core.$ZodType | undefined)?._zod.propValues?.[discriminator]
  if (discriminator === undefined || !values) return input === undefined ? 'is required' : 'is not valid'
  return wrongValue([...values], (input as Record<string, unknown> | undefined)?.[discriminator])
}

const sentenceOf = (issue: Issue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      if (typeof issue.input === 'number' && Number.isNaN(issue.input)) return `must be ${kinds[issue.expected] ?? 'a number'}`
      return issue.input === null && !issue.path?.length ? 'is required' : wrongType(issue.expected, issue.input, issue.inst)
    case 'invalid_value':
      return wrongValue(issue.values, issue.input)
    case 'too_small':
      return tooSmall(issue.origin, issue.minimum, issue.inclusive ?? true)
    case 'too_big':
      return tooBig(issue.origin, issue.maximum)
    case 'unrecognized_keys':
      return unknownFields(issue)
    case 'invalid_format':
      return issue.format === 'regex' ? 'does not have the form that is expected' : `is not a valid ${issue.format}`
    case 'invalid_union':
      return wrongUnion(issue)
    default:
      return undefined
  }
}

/** For a single validation: a response lists at most a hundred faults, so further messages would only take time. */
export const sentences = (): ((issue: Issue) => string | undefined) => {
  let left = maxNamedFaults
  return (issue) => (left-- > 0 ? sentenceOf(issue) : 'is not valid')
}

export const fieldErrors = (issues: readonly z.core.$ZodIssue[]): FieldError[] =>
  issues.flatMap((issue): FieldError[] => {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys') {
      const lines = issue.message.split('\n')
      return issue.keys.map((key, nth) => ({
        path: path ? `${path}.${key}` : key,
        message: lines[nth] ?? 'is not a known field',
      }))
    }
    if (issue.code === 'invalid_key') {
      const of = issue.path.slice(0, -1).join('.')
      return issue.issues.map(({ message }) => ({ path: of || 'body', message: `a name in it ${message}` }))
    }
    if (issue.code === 'invalid_union' && issue.errors.length > 0) return fieldErrors(issue.errors.flat())
    return [{ path: path || 'body', message: issue.message }]
  })

const isOfList = (issue: z.core.$ZodIssue): boolean =>
  (issue.code === 'too_big' || issue.code === 'too_small') && issue.origin === 'array'

/** Rewords faults for queries and forms, where an array is a repeated parameter and a record is written `parameter[name]`. */
export const parameterErrors = (given: unknown, issues: readonly z.core.$ZodIssue[]): FieldError[] =>
  fieldErrors(
    issues.map((issue) => {
      const path = issue.path.filter((name) => typeof name !== 'number')
      const value = path.reduce<unknown>((found, name) => (found as Record<PropertyKey, unknown> | undefined)?.[name], given)
      const isRepeated = Array.isArray(value) && path.length === issue.path.length && !isOfList(issue)
      if (isRepeated) return { ...issue, message: 'is given more than once: send one value' }
      const isNamed = issue.code === 'invalid_type' && issue.expected === 'record'
      return isNamed ? { ...issue, message: `is written with a name: ${path.join('.')}[name]=value` } : { ...issue, path }
    }),
  )
