import { type ReadStatement, readInPortions } from '../../src/modules/exceptions/reconciliation/statement-rules.ts'

/** A statement as a whole. */
export const readStatement = (text: string): ReadStatement => {
  const reading = readInPortions(text)
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
  }
}
