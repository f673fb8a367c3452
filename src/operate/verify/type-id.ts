import { type IdKind, idPrefixes } from '../../lib/ids.ts'

const digits = '0123456789abcdefghjkmnpqrstvwxyz'

/** The bytes of the id as `b`: digit `i` holds the five bits that begin at bit `5 * i - 2`, and the first digit three. */
const digitSql = (i: number): string => {
  const first = Math.max(0, 5 * i - 2)
  const [byte, before] = [Math.floor(first / 8), first % 8]
  const unused = 3 - before
  const bits =
    i === 0
      ? 'get_byte(b, 0) >> 5'
      : unused >= 0
        ? `(get_byte(b, ${byte}) >> ${unused}) & 31`
        : `((get_byte(b, ${byte}) << ${-unused}) | (get_byte(b, ${byte + 1}) >> ${8 + unused})) & 31`
  return `substr('${digits}', (${bits}) + 1, 1)`
}

const typeIdDigits = Array.from({ length: 26 }, (_, i) => digitSql(i)).join(' || ')

/** A UUID column as the TypeID that stands for it on the wire. Written out digit by digit: a million ids take seconds. */
export const typeIdSql = (kind: IdKind, column: string): string =>
  `(select '${idPrefixes[kind]}_' || ${typeIdDigits} from (select uuid_send(${column}) as b offset 0) as bytes)`
