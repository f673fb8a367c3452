import { setTimeout as wait } from 'node:timers/promises'
import type { Bench } from './processes.ts'

const mostSeconds = 120

/** `left`: a query by an index. It is asked rarely: the database works for what is measured. */
export const secondsUntilNone = async (bench: Bench, left: string): Promise<number> => {
  const began = performance.now()
  for (;;) {
    const [some] = await bench.query(`select exists(${left}) as left`)
    const seconds = (performance.now() - began) / 1000
    if (some?.left === false) return seconds
    if (seconds > mostSeconds) throw new Error(`rows were left after ${mostSeconds} seconds: ${left}`)
    await wait(50)
  }
}
