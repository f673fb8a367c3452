// The runner's own figures of all runs in one line. A file that could not be loaded, and an error outside of every test, count as failures.
import { readFileSync } from 'node:fs'

const read = (report) => {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
  }
}
const count = (report, exitStatus) => {
  const result = read(report)
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length
  const passed = result.numPassedTests
  const counted = result.numFailedTests + brokenFiles
  const failed = counted === 0 && (exitStatus !== '0' || passed === 0) ? 1 : counted
  return { passed, failed, skipped: result.numPendingTests + result.numTodoTests }
}
const [, , ...runs] = process.argv
const counts = []
for (let index = 0; index < runs.length; index += 2) counts.push(count(runs[index], runs[index + 1]))
const sum = (name) => counts.reduce((total, one) => total + one[name], 0)

console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
process.exitCode = counts.length > 0 && sum('failed') === 0 ? 0 : 1
