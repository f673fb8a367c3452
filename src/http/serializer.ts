import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import { z } from 'zod'
import { compileJson, type WriteJson, writeByZod } from './compile-json.ts'

type Declared = z.ZodType | { properties: z.ZodType }

const schemaOf = (declared: Declared): z.ZodType => {
  const schema = 'properties' in declared && !('_zod' in declared) ? declared.properties : declared
  if (!(schema instanceof z.ZodType)) throw new TypeError('an answer is declared by something that is no schema')
  return schema
}

/** Compiled when the first answer is written: most routes of most processes never use most of their statuses. */
const lazily = (schema: z.ZodType): WriteJson => {
  let write: WriteJson | undefined
  return (value) => {
    write ??= compileJson(schema)
    return write(value)
  }
}

const checked = (schema: z.ZodType): WriteJson => {
  const [compiled, byZod] = [lazily(schema), writeByZod(schema)]
  return (value) => {
    const written = compiled(value)
    if (String(written) !== byZod(value)) throw new Error('the compiled answer is not the one that its schema declares')
    return written
  }
}

/**
 * Writes answers as their schemas declare them; undeclared fields are not written. `check`: compares each answer with zod's, which checks
 * every format and length too; for tests, so that the whole suite proves the two equal.
 */
export const serializers =
  (check: boolean): FastifySerializerCompiler<Declared> =>
  ({ schema }) =>
    // Fastify sends bytes too, although its type does not say so.
    (check ? checked(schemaOf(schema)) : lazily(schemaOf(schema))) as (value: unknown) => string
