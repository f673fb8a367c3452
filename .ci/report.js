import { readFileSync } from 'node:fs'

/** What vitest's JSON reporter wrote; without a file, a run of nothing. */
export const readReport = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
  }
}
export const failedTests = (file) => file.assertionResults.filter(({ status }) => status === 'failed')
