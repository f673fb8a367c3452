import { parseArgs } from 'node:util'
import { openBench } from './processes.ts'
import { measureRatios } from './ratios.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
    payers: { type: 'string', default: '100' },
    statements: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  payers: Number(values.payers),
  statements: values.statements,
  only: values.only === undefined ? undefined : new RegExp(values.only),
}

const [what = 'ratios'] = positionals
const bench = await openBench()
try {
  if (what === 'ratios') await measureRatios(bench, options)
  else throw new Error(`there is no bench called ${what}`)
} finally {
  await bench.stop()
}
