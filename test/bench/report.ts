import { writeFile } from 'node:fs/promises'

export type Spread = { median: number; min: number; max: number; rounds: number }

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

export const spread = (numbers: readonly number[]): Spread => ({
  median: median(numbers),
  min: Math.min(...numbers),
  max: Math.max(...numbers),
  rounds: numbers.length,
})

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

export const row = (name: string, { median: middle, min, max }: Spread, goal = '', digits = 2): string =>
  `  ${name.padEnd(52)} ${middle.toFixed(digits).padStart(8)}   (${min.toFixed(digits)} … ${max.toFixed(digits)})${goal && `   goal ${goal}`}`

export const save = (result: object): Promise<void> =>
  writeFile('bench-result.json', `${JSON.stringify({ at: new Date().toISOString(), ...result }, null, 2)}\n`)
