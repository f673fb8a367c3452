import { z } from 'zod'
import { isoTime } from '../lib/clock.ts'
import { formatId } from '../lib/ids.ts'
import { type CamelName, camelName } from './pagination.ts'
import { idKinds } from './wire.ts'

/** Times and amounts become text, and ids get their prefixes, only in the API's responses. */
type Stored<Value> = Value | (string extends Value ? Date | bigint : never)
type Copied<Out, Row> = {
  [Name in keyof Out]-?: CamelName<Name> extends keyof Row
    ? Row[CamelName<Name>] extends Stored<Out[Name]>
      ? Name
      : never
    : never
}[keyof Out]
type Given<Out, Row> = Omit<Out, Copied<Out, Row>> & Partial<Out>

const fieldOf = ([name, schema]: [string, z.ZodType]) => {
  let inner = schema
  while (inner instanceof z.ZodNullable || inner instanceof z.ZodOptional || inner instanceof z.ZodArray)
    inner = (inner instanceof z.ZodArray ? inner.element : inner.unwrap()) as z.ZodType
  return { name, from: camelName(name), kind: idKinds.get(inner)?.kind }
}

const onWire = (value: unknown, kind: ReturnType<typeof fieldOf>['kind']): unknown => {
  if (value instanceof Date) return isoTime(value)
  if (typeof value === 'bigint') return value.toString()
  if (kind === undefined) return value
  if (Array.isArray(value)) return value.map((id) => formatId(kind, id))
  return typeof value === 'string' ? formatId(kind, value) : value
}

/** Copies fields from the record unless the caller provides them. The compiler requires those that the record lacks. */
export const presenter = <S extends z.ZodObject>(schema: S) => {
  type Out = z.output<S>
  const fields = Object.entries(schema.shape).map(([name, type]) => fieldOf([name, type as z.ZodType]))
  return <Row extends object>(
    row: Row,
    ...[given = {} as Given<Out, Row>]: object extends Given<Out, Row> ? [given?: Given<Out, Row>] : [given: Given<Out, Row>]
  ): Out => {
    const shown: Record<string, unknown> = {}
    for (const { name, from, kind } of fields)
      if (name in given) shown[name] = (given as Record<string, unknown>)[name]
      else if (from in row) shown[name] = onWire((row as Record<string, unknown>)[from], kind)
    return shown as Out
  }
}
