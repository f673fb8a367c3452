import pg from 'pg'

type Parser = (text: string) => unknown

const { builtins } = pg.types
const bigintArray = 1016

/** Connections are in UTC; a time in another zone, or far from now, is left to the driver. */
const utc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00$/
const instant: Parser = (text) => {
  const parts = utc.exec(text)
  return parts ? new Date(`${parts[1]}T${parts[2]}Z`) : pg.types.getTypeParser(builtins.TIMESTAMPTZ, 'text')(text)
}

/** How values are read, where the driver's own way does not fit: money is exact, and a day has no time zone. */
export const types = new pg.TypeOverrides()
types.setTypeParser(builtins.INT8, BigInt)
types.setTypeParser(builtins.DATE, String)
types.setTypeParser(builtins.TIMESTAMPTZ, instant)
types.setTypeParser(bigintArray, (text) => text.slice(1, -1).split(',').filter(Boolean).map(BigInt))
