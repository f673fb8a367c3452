import { decodeUuid } from '../../src/lib/ids.ts'
import { leafHash, provesInclusion } from '../../src/lib/merkle.ts'
import { fromHex } from '../bytes.ts'
import { bad, type Finding, ok, unchecked } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

type Row = Receipt['audit']['rows'][number]
type Proof = NonNullable<Row['proof']>

const uuidOf = (id: string | undefined): string | undefined =>
  id?.includes('_') ? decodeUuid(id.slice(id.indexOf('_') + 1)) : undefined

const bytesOf = (texts: readonly string[]): Uint8Array[] => texts.map((text) => fromHex(text) ?? new Uint8Array())

const isProven = ({ line, index, rows, path, rows_root, seal, seal_path }: Proof, size: number, root: string): boolean => {
  const rowsRoot = fromHex(rows_root)
  const head = fromHex(root)
  if (!rowsRoot || !head) return false
  return (
    provesInclusion({ leaf: leafHash(line), index, size: rows, path: bytesOf(path), root: rowsRoot }) &&
    provesInclusion({ leaf: leafHash(rowsRoot), index: seal, size, path: bytesOf(seal_path), root: head })
  )
}

/** Whether the line describes this row: its id, time and action, with the payment or its approval as the subject. */
const isAbout = (receipt: Receipt, row: Row, line: string): boolean => {
  const columns: unknown = JSON.parse(line)
  if (!Array.isArray(columns)) return false
  const subjects = [uuidOf(receipt.payment.id), uuidOf(receipt.approval?.id)]
  return (
    columns[0] === uuidOf(row.id) &&
    columns[2] === row.at &&
    columns[3] === row.action &&
    subjects.includes(typeof columns[10] === 'string' ? columns[10] : undefined)
  )
}

/** Whether each audit row of the payment is included under the signed head of the sealed log. */
export const checkLog = (receipt: Receipt): Finding[] => {
  const check = 'sealed log'
  const { head, rows } = receipt.audit
  if (!rows.some(({ action }) => action === 'payment.create'))
    return [bad(check, 'the creation of the payment is not in the audit log')]
  if (!head) return [unchecked(check, 'nothing was sealed when the receipt was issued: ask for it again in a minute')]
  const wrong = rows.find(({ proof }) => proof && !isProven(proof, head.size, head.root))
  if (wrong) return [bad(check, `the row ${wrong.action} is not in the log that the head stands for`)]
  const foreign = rows.find((row) => row.proof && !isAbout(receipt, row, row.proof.line))
  if (foreign) return [bad(check, `the row ${foreign.action} is about something else`)]
  const sealed = rows.filter(({ proof }) => proof).length
  const open = rows.length - sealed
  return [
    ...(sealed > 0 ? [ok(check, `${sealed} audit rows are in the log of ${head.size} seals with the root ${head.root}`)] : []),
    ...(open > 0 ? [unchecked(check, `${open} audit rows were not sealed yet when the receipt was issued`)] : []),
  ]
}
