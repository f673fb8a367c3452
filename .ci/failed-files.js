// The files of the given reports in which something failed, a line each.
import { readReport } from './report.js'

const failed = process.argv.slice(2).flatMap((path) => readReport(path).testResults.filter(({ status }) => status === 'failed'))
for (const { name } of failed) console.log(name)
