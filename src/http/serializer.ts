import { isDeepStrictEqual } from 'node:util'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import { z } from 'zod'

type Declared = z.ZodType | { properties: z.ZodType }

const schemaOf = (declared: Declared): z.ZodType => {
  const schema = 'properties' in declared && !('_zod' in declared) ? declared.properties : declared
  if (!(schema instanceof z.ZodType)) throw new TypeError('an answer is declared by something that is no schema')
  return schema
}

/** Refuses an answer that is not what its schema declares: a wrong type or format, a field that is missing, or one that is not declared. */
const checked =
  (schema: z.ZodType) =>
  (value: unknown): string => {
    const text = JSON.stringify(value)
    const declared = JSON.stringify(z.encode(schema, value))
    if (!isDeepStrictEqual(JSON.parse(text), JSON.parse(declared)))
      throw new Error(`an answer is not what its schema declares: ${text.slice(0, 500)} instead of ${declared.slice(0, 500)}`)
    return text
  }

/** Answers are the JSON of what a feature presents. `check`: each is compared with its schema, for tests, as it costs more than the answer. */
export const serializers =
  (check: boolean): FastifySerializerCompiler<Declared> =>
  ({ schema }) =>
    check ? checked(schemaOf(schema)) : JSON.stringify
