import { type Json, rewrite } from '../http/openapi-walk.ts'

/** The type that stores our integers: PostgreSQL's `integer`. All of them count something. */
const largest = 2_147_483_647

const isUnbounded = (bound: unknown, safe: number): boolean => bound === undefined || bound === safe

/** A format already says what a pattern of three hundred characters would repeat. */
export const plainTimes = (document: Json): Json =>
  rewrite(document, ({ pattern, ...rest }) =>
    rest.format === 'date-time' || pattern === undefined ? rest : { ...rest, pattern },
  ) as Json

/** An integer without declared bounds gets those of its column, instead of those of a JavaScript number. */
export const boundIntegers = (document: Json): Json =>
  rewrite(document, (object) => {
    if (object.type !== 'integer') return object
    const { minimum, maximum, exclusiveMinimum, ...rest } = object
    const least = exclusiveMinimum === 0 ? 1 : isUnbounded(minimum, Number.MIN_SAFE_INTEGER) ? 0 : minimum
    return { ...rest, minimum: least, maximum: isUnbounded(maximum, Number.MAX_SAFE_INTEGER) ? largest : maximum }
  }) as Json
