import { z } from 'zod'
import { keptAs } from '../lib/shared.ts'

// Generates code from a response's schema that writes the response: the declared fields in their order and nothing else.

type Schema = z.core.$ZodType
export type WriteJson = (value: unknown) => string

type Code = {
  /** Functions of the generated program, one for each object or list. */
  functions: string[]
  /** zod writes what is too rare or too open to generate code for. */
  left: Schema[]
  /** The objects that the document names: their texts are kept with shared records. */
  named: Schema[]
}

const plain = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/
const shortEnough = 64

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new TypeError('an answer has something else where a text was declared')
  return value.length < shortEnough && plain.test(value) ? `"${value}"` : JSON.stringify(value)
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
const open = (value: unknown): string => JSON.stringify(value) ?? 'null'

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
  code.functions[place] += `\nconst ${kept} = (value) => keptAs(named[${code.named.push(schema) - 1}], value, ${name})`
  return kept
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
      if ((def as z.core.$ZodObjectDef).catchall === undefined || isStrict(schema))
        return `${objectFunction(schema, code)}(${value})`
  }
  return `left[${code.left.push(schema) - 1}](${value})`
}

const isStrict = (schema: Schema): boolean => {
  const { catchall } = defOf(schema) as z.core.$ZodObjectDef
  return catchall !== undefined && defOf(catchall).type === 'never'
}

/** Writes with zod, which makes every check of the schema. Throws where the value does not fit. */
export const writeByZod =
  (schema: Schema): WriteJson =>
  (value) =>
    JSON.stringify(z.encode(schema, value)) ?? 'null'

/** Writes with the compiled code, which checks only the types of the fields. Throws where one has another type, or is missing. */
export const compileJson = (schema: Schema): WriteJson => {
  const code: Code = { functions: [], left: [], named: [] }
  const result = expression(schema, 'value', code)
  const body = `${code.functions.join('\n')}\nreturn (value) => ${result}`
  const make = new Function('text', 'number', 'truth', 'open', 'left', 'named', 'keptAs', body) as (
    ...parts: unknown[]
  ) => WriteJson
  return make(text, number, truth, open, code.left.map(writeByZod), code.named, keptAs)
}
