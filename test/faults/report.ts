import { appendFileSync } from 'node:fs'

/** Figures of a run, one per line, in the file that FAULT_REPORT names. */
export const report = (name: string, value: number | string): void => {
  const file = process.env.FAULT_REPORT
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, value })}\n`)
}
