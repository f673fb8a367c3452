import { expect, test } from 'vitest'
import { z } from 'zod'
import { openService } from '../harness/service.ts'

type Inner = { _zod: { def: Record<string, unknown> & { type: string; checks?: Check[] } } }
type Check = { _zod: { def: { check: string; abort?: boolean } } }

const isSchema = (value: unknown): value is Inner => typeof value === 'object' && value !== null && '_zod' in value

/** Texts of a schema that are processed (a pattern, a normal form, a trim) before their length is bounded. */
const unbounded = (schema: unknown, path: string, seen = new Set<unknown>()): string[] => {
  if (!isSchema(schema) || seen.has(schema)) return []
  seen.add(schema)
  const { def } = schema._zod
  if (def.type === 'string') {
    // The patterns of dates read only a few characters of an invalid date.
    if (def.format === 'datetime' || def.format === 'date') return []
    const first = def.format ? undefined : def.checks?.[0]?._zod.def
    const isBounded = first?.check === 'length_equals' || (first?.check === 'max_length' && first.abort === true)
    return isBounded ? [] : [path]
  }
  const shape = (def.shape ?? {}) as Record<string, unknown>
  return [
    ...Object.entries(shape).flatMap(([name, field]) => unbounded(field, `${path}.${name}`, seen)),
    ...[def.element, def.innerType, def.in, def.keyType, def.valueType, def.catchall, def.left, def.right]
      .concat(def.options, def.items)
      .flatMap((part) => unbounded(part, path, seen)),
  ]
}

test('the length of every text of a request is bounded before it is trimmed, normalised or matched', async () => {
  const { routes } = await openService()
  expect(routes.flatMap(({ operation, reads }) => reads.flatMap((schema) => unbounded(schema, operation)))).toEqual([])
})

test('a text that is not bounded first is found, wherever it is', () => {
  const kept = z.string().max(5, { abort: true }).trim()
  const planted = z.strictObject({
    kept,
    none: z.string(),
    late: z.string().trim().max(5),
    'goes on': z.string().max(5).normalize(),
    format: z.email().max(5),
    list: z.array(z.string()).nullish(),
    names: z.record(z.string().regex(/a/), kept),
    either: z.union([kept, z.strictObject({ inner: z.string().default('') })]),
    changed: z.string().transform(String),
  })
  const found = ['none', 'late', 'goes on', 'format', 'list', 'names', 'either.inner', 'changed']
  expect(unbounded(planted, 'it')).toEqual(found.map((name) => `it.${name}`))
})
