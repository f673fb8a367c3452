import { type ReadStatement, readInChunks } from '../../src/modules/exceptions/reconciliation/statement-rules.ts'
import type { OwnTitles } from '../../src/modules/exceptions/reconciliation/statement-titles.ts'

/** Reads a whole statement. */
export const readStatement = (text: string, columns: OwnTitles = {}): ReadStatement => {
  const reading = readInChunks(text, { CURRENCY: 'KES', STATEMENT_COLUMNS: columns })
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
  }
}
