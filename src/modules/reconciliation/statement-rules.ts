import { readCsvRows } from '../../lib/csv-rows.ts'
import { type Provider, providers } from '../../lib/rail-names.ts'
import { readShillings } from '../../rails/amounts.ts'
import { definitions } from '../../rails/definitions.ts'
import { providerLabels } from '../../rails/texts.ts'
import type { StatementLine } from './books.ts'

/** `2026-03-04 12:00:00` or `04-03-2026 12:00:00`, in Nairobi. */
const readTime = (text: string): Date | undefined => {
  const iso = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d:\d\d(?::\d\d)?)/.exec(text)
  const local = /^(\d\d)[-/.](\d\d)[-/.](\d{4})[ T](\d\d:\d\d(?::\d\d)?)/.exec(text)
  const parts = iso ? [iso[1], iso[2], iso[3], iso[4]] : local ? [local[3], local[2], local[1], local[4]] : undefined
  if (!parts) return undefined
  const at = new Date(`${parts[0]}-${parts[1]}-${parts[2]}T${parts[3]}+03:00`)
  return Number.isNaN(at.getTime()) ? undefined : at
}

const readAmount = (text: string): bigint | undefined => {
  const plain = text.replace(/[,\s-]/g, '')
  return plain === '' ? 0n : readShillings(plain)
}

export type ReadStatement = { lines: StatementLine[]; provider: Provider } | { problem: string }

/**
 * An organisation's statement as its portal exports it. Lines before the column names are skipped. A line that cannot be read makes the
 * whole file invalid, because an incomplete statement would show differences that do not exist.
 */
export const readStatement = (text: string): ReadStatement => {
  const read = readCsvRows(text, { separator: ',' })
  if ('problem' in read) return { problem: `it ${read.problem}` }
  const rows = read.filter((row) => row.some((cell) => cell !== ''))
  for (const provider of providers) {
    const { columns: required, completed, referencesIn } = definitions[provider].statement
    const at = (names: readonly string[], header: readonly string[]) => header.findIndex((name) => names.includes(name))
    const headerAt = rows.findIndex((row) => {
      const header = row.map((cell) => cell.trim().toLowerCase())
      return [required.receipt, required.time, required.in, required.out].every((names) => at(names, header) >= 0)
    })
    const header = rows[headerAt]?.map((cell) => cell.trim().toLowerCase())
    if (!header) continue
    const cell = (row: readonly string[], names: readonly string[]): string => (row[at(names, header)] ?? '').trim()
    const lines: StatementLine[] = []
    for (const [index, row] of rows.slice(headerAt + 1).entries()) {
      const status = cell(row, required.status).toLowerCase()
      if (status !== '' && !completed.includes(status)) continue
      const receipt = cell(row, required.receipt)
      const time = readTime(cell(row, required.time))
      const [paidIn, paidOut] = [readAmount(cell(row, required.in)), readAmount(cell(row, required.out))]
      if (receipt === '' || !time || paidIn === undefined || paidOut === undefined)
        return { problem: `line ${headerAt + index + 2} cannot be read: a receipt, a time and an amount are needed` }
      const references = referencesIn(required.texts.map((name) => cell(row, [name])))
      const [party, account] = [cell(row, required.party), cell(row, required.account)]
      lines.push({
        receipt,
        at: time,
        amountMinor: paidIn - paidOut,
        references,
        ...(party !== '' && { party }),
        ...(account !== '' && { account }),
      })
    }
    return { lines, provider }
  }
  const known = providerLabels.join(' or ')
  return { problem: `it has no row with the column names of a statement from ${known}` }
}
