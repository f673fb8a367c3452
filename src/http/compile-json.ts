import { z } from 'zod'
import { keptAs } from '../lib/shared.ts'

// Generates code from a response's schema that writes the response: the declared fields in their order and nothing else.
// Its texts have a character for each byte of UTF-8. One character beyond Latin-1, as a curly quote has, makes V8 use two bytes for each
// character of the whole answer, and measuring and writing that as UTF-8 costs five times as much.

type Schema = z.core.$ZodType
/** A text of ASCII, or UTF-8. */
export type WriteJson = (value: unknown) => string | Buffer
type WriteOctets = (value: unknown) => string

type Code = {
  /** Functions of the generated program, one for each object or list. */
  functions: string[]
  /** zod writes what is too rare or too open to generate code for. */
  left: Schema[]
  /** The objects that the document names: their texts are kept with shared records. */
  named: Schema[]
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length
/** A character for each byte of the text's UTF-8. */
const octetsOf = (text: string): string => (isAscii(text) ? text : Buffer.from(text).toString('latin1'))

/** V8 joins texts as a tree, which whoever uses the whole one goes through: once for one that is kept. */
const flat = (text: string): string => {
  isAscii(text)
  return text
}

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
const shortEnough = 64

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new TypeError('an answer has something else where a text was declared')
  return value.length < shortEnough && plain.test(value) ? `"${value}"` : octetsOf(JSON.stringify(value))
}
const number = (value: unknown): string => {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new TypeError('an answer has something else where a number was declared')
  return String(value)
}
const truth = (value: unknown): string => {
  if (typeof value !== 'boolean') throw new TypeError('an answer has something else where true or false was declared')
  return String(value)
}
const writeOpen = (value: unknown): string => octetsOf(JSON.stringify(value) ?? 'null')
const open = (value: unknown): string => keptAs(writeOpen, value, writeOpen)
const openRecord = (value: unknown): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('an answer has something else where a record was declared')
  return open(value)
}

const defOf = (schema: Schema): z.core.$ZodTypeDef => schema._zod.def

/** Whether a field may be left out. */
const mayBeMissing = (schema: Schema): boolean => schema._zod.optout === 'optional'

const withoutOptional = (schema: Schema): Schema => {
  const def = defOf(schema)
  return def.type === 'optional' ? withoutOptional((def as z.core.$ZodOptionalDef).innerType) : schema
}

const objectFunction = (schema: Schema, code: Code): string => {
  const { shape } = defOf(schema) as z.core.$ZodObjectDef
  const name = `object${code.functions.length}`
  const place = code.functions.push('') - 1
  const fields = Object.entries(shape).map(([key, field]) => {
    const value = `value[${JSON.stringify(key)}]`
    const written = `out += comma + ${JSON.stringify(`${JSON.stringify(key)}:`)} + ${expression(withoutOptional(field), value, code)}; comma = ','`
    return mayBeMissing(field) ? `if (${value} !== undefined) { ${written} }` : written
  })
  code.functions[place] = `const ${name} = (value) => {
    if (typeof value !== 'object' || value === null) throw new TypeError('an answer has something else where an object was declared')
    let out = '{', comma = ''
    ${fields.join('\n    ')}
    return out + '}'
  }`
  if (z.globalRegistry.get(schema)?.id === undefined) return name
  const kept = `kept${name}`
  code.functions[place] += `
  const flat${name} = (value) => flat(${name}(value))
  const ${kept} = (value) => keptAs(named[${code.named.push(schema) - 1}], value, flat${name})`
  return kept
}

/** A record is open: whatever its names are, its values have one type. */
const recordFunction = (schema: Schema, code: Code): string => {
  const { valueType } = defOf(schema) as z.core.$ZodRecordDef
  const name = `record${code.functions.length}`
  const place = code.functions.push('') - 1
  code.functions[place] = `const ${name} = (value) => {
    if (typeof value !== 'object' || value === null) throw new TypeError('an answer has something else where a record was declared')
    let out = '{', comma = ''
    for (const key in value) { out += comma + text(key) + ':' + ${expression(valueType, 'value[key]', code)}; comma = ',' }
    return out + '}'
  }`
  return name
}

const literalOf = (schema: Schema): z.core.util.Literal | undefined => {
  const { type, values } = defOf(schema) as z.core.$ZodLiteralDef<z.core.util.Literal>
  return type === 'literal' && values.length === 1 ? values[0] : undefined
}

const optionsOf = (schema: Schema): readonly Schema[] =>
  defOf(schema).type === 'union' ? (defOf(schema) as z.core.$ZodUnionDef).options.flatMap(optionsOf) : [schema]

const shapeOf = (schema: Schema): Readonly<Record<string, Schema>> =>
  isPlainObject(schema) ? (defOf(schema) as z.core.$ZodObjectDef).shape : {}

/** Where each kind of a union is an object with a name of its own in the same field. zod would try them in turn, and make an error of each. */
const unionFunction = (schema: Schema, code: Code): string | undefined => {
  const options = optionsOf(schema)
  const kindsBy = (field: string) =>
    options.map((option) => {
      const declared = shapeOf(option)[field]
      return declared && literalOf(declared)
    })
  const field = Object.keys(shapeOf(options[0] ?? schema)).find((candidate) => {
    const kinds = kindsBy(candidate)
    return kinds.every((kind) => typeof kind === 'string') && new Set(kinds).size === kinds.length
  })
  if (field === undefined) return undefined
  const name = `union${code.functions.length}`
  const place = code.functions.push('') - 1
  const cases = kindsBy(field).map(
    (kind, at) => `case ${JSON.stringify(kind)}: return ${expression(options[at] as Schema, 'value', code)}`,
  )
  code.functions[place] = `const ${name} = (value) => {
    switch (value?.[${JSON.stringify(field)}]) {
      ${cases.join('\n      ')}
    }
    throw new TypeError('an answer has something else where one of several objects was declared')
  }`
  return name
}

const literal = (value: unknown, declared: unknown): string => {
  if (value !== declared) throw new TypeError('an answer has something else where a value was declared')
  return octetsOf(JSON.stringify(value))
}

const listFunction = (schema: Schema, code: Code): string => {
  const { element } = defOf(schema) as z.core.$ZodArrayDef
  const name = `list${code.functions.length}`
  const place = code.functions.push('') - 1
  code.functions[place] = `const ${name} = (value) => {
    if (!Array.isArray(value)) throw new TypeError('an answer has something else where a list was declared')
    let out = '[', comma = ''
    for (const entry of value) { out += comma + ${expression(element, 'entry', code)}; comma = ',' }
    return out + ']'
  }`
  return name
}

const expression = (schema: Schema, value: string, code: Code): string => {
  const def = defOf(schema)
  switch (def.type) {
    case 'string':
    case 'enum':
      return `text(${value})`
    case 'number':
      return `number(${value})`
    case 'boolean':
      return `truth(${value})`
    case 'any':
    case 'unknown':
      return `open(${value})`
    case 'nullable':
      return `(${value} === null ? 'null' : ${expression((def as z.core.$ZodNullableDef).innerType, value, code)})`
    case 'array':
      return `${listFunction(schema, code)}(${value})`
    case 'object':
      if (isPlainObject(schema)) return `${objectFunction(schema, code)}(${value})`
      break
    case 'literal':
      if (literalOf(schema) !== undefined) return `literal(${value}, ${JSON.stringify(literalOf(schema))})`
      break
    case 'record':
      if (hasValues(schema, 'string', 'number')) return `${recordFunction(schema, code)}(${value})`
      if (hasValues(schema, 'any', 'unknown')) return `openRecord(${value})`
      break
    case 'union': {
      const written = unionFunction(schema, code)
      if (written !== undefined) return `${written}(${value})`
    }
  }
  return `left[${code.left.push(schema) - 1}](${value})`
}

const isPlainObject = (schema: Schema): boolean => {
  const { type, catchall } = defOf(schema) as z.core.$ZodObjectDef
  return type === 'object' && (catchall === undefined || defOf(catchall).type === 'never')
}

const hasValues = (schema: Schema, ...types: readonly string[]): boolean => {
  const { keyType, valueType } = defOf(schema) as z.core.$ZodRecordDef
  return defOf(keyType).type === 'string' && types.includes(defOf(valueType).type)
}

/** Writes with zod, which makes every check of the schema. Throws where the value does not fit. */
export const writeByZod =
  (schema: Schema): WriteOctets =>
  (value) =>
    JSON.stringify(z.encode(schema, value)) ?? 'null'

/** Writes with the compiled code, which checks only the types of the fields. Throws where one has another type, or is missing. */
export const compileJson = (schema: Schema): WriteJson => {
  const code: Code = { functions: [], left: [], named: [] }
  const result = expression(schema, 'value', code)
  const body = `${code.functions.join('\n')}\nreturn (value) => ${result}`
  const make = new Function(
    'text',
    'number',
    'truth',
    'open',
    'openRecord',
    'literal',
    'left',
    'named',
    'keptAs',
    'flat',
    body,
  ) as (...parts: unknown[]) => WriteOctets
  const left = code.left.map(writeByZod).map((write) => (value: unknown) => octetsOf(write(value)))
  const write = make(text, number, truth, open, openRecord, literal, left, code.named, keptAs, flat)
  return (value) => {
    const octets = write(value)
    return isAscii(octets) ? octets : Buffer.from(octets, 'latin1')
  }
}
