// The failures of all runs by name, and the runner's own figures in the last line. A file that could not be loaded, and an error outside of every
// test, count as failures. A file that failed and passed when it ran again, alone, is named too and does not count.
import { failedTests, readReport } from './report.js'

const [, , repeated, ...runs] = process.argv
const passedAgain = new Set(readReport(repeated).testResults.flatMap(({ name, status }) => (status === 'passed' ? [name] : [])))

const count = (report, exitStatus) => {
  const result = readReport(report)
  const counts = { passed: result.numPassedTests, failed: 0, skipped: result.numPendingTests + result.numTodoTests }
  let isExplained = false
  for (const file of result.testResults.filter(({ status }) => status === 'failed')) {
    const failed = failedTests(file)
    const isUnstable = passedAgain.has(file.name)
    const word = isUnstable ? 'UNSTABLE' : 'FAILED'
    if (failed.length === 0) console.log(`${word} ${file.name}\n${file.message}`)
    for (const test of failed) {
      console.log(
        `${word} ${file.name}: ${test.fullName} (${Math.round(test.duration ?? 0)} ms)\n${test.failureMessages.join('\n')}`,
      )
    }
    counts[isUnstable ? 'passed' : 'failed'] += isUnstable ? failed.length : Math.max(failed.length, 1)
    isExplained = true
  }
  if (!isExplained && (exitStatus !== '0' || counts.passed === 0)) counts.failed = 1
  return counts
}
const counts = []
for (let index = 0; index < runs.length; index += 2) counts.push(count(runs[index], runs[index + 1]))
const sum = (name) => counts.reduce((total, one) => total + one[name], 0)

console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
process.exitCode = counts.length > 0 && sum('failed') === 0 ? 0 : 1
