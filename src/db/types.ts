import pg from 'pg'

type Parser = (text: string) => unknown

const { builtins } = pg.types
const bigintArray = 1016
const textArray = 1009
const uuidArray = 2951

/** Connections are in UTC; a time in another zone, or far from now, is left to the driver. */
const utc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00$/
const instant: Parser = (text) => {
  const parts = utc.exec(text)
  return parts ? new Date(`${parts[1]}T${parts[2]}Z`) : pg.types.getTypeParser(builtins.TIMESTAMPTZ, 'text')(text)
}

/** Most lists have no item that is quoted; the driver examines every character. */
const plainItems = /^\{[^"{}]*\}$/
const list = (type: number): Parser => {
  const other = pg.types.getTypeParser(type, 'text')
  return (text) => {
    if (text === '{}') return []
    return plainItems.test(text) && !text.includes('NULL') ? text.slice(1, -1).split(',') : other(text)
  }
}

const ours: Readonly<Record<number, Parser>> = {
  [builtins.INT8]: BigInt,
  // A day has no time zone: the driver would make it midnight in the zone of this process.
  [builtins.DATE]: String,
  [builtins.TIMESTAMPTZ]: instant,
  [textArray]: list(textArray),
  [uuidArray]: list(uuidArray),
  [bigintArray]: (text) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt),
}

const parserOf = (type: number): Parser => ours[type] ?? (pg.types.getTypeParser(type, 'text') as Parser)

const binary = (type: number) => pg.types.getTypeParser(type, 'binary')

export const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: 'text' | 'binary') =>
    format === 'binary' ? binary(type) : parserOf(type)) as pg.CustomTypesConfig['getTypeParser'],
}
