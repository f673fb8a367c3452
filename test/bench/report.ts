import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg } from 'node:os'

export type Spread = { median: number; min: number; max: number; rounds: number }

const median = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  const [below = 0, above = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return (below + above) / 2
}

export const spread = (numbers: readonly number[]): Spread => ({
  median: median(numbers),
  min: Math.min(...numbers),
  max: Math.max(...numbers),
  rounds: numbers.length,
})

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

export const row = (name: string, { median: middle, min, max }: Spread, goal = '', digits = 2): string =>
  `  ${name.padEnd(52)} ${middle.toFixed(digits).padStart(8)}   (${min.toFixed(digits)} … ${max.toFixed(digits)})${goal && `   goal ${goal}`}`

export type Result = Spread & { name: string; goal: string; digits?: number }

const page = new URL('../../docs/performance.md', import.meta.url)

const table = (result: readonly Result[]): string =>
  [
    '| | median | least … most | rounds | goal |',
    '|---|---|---|---|---|',
    ...result.map(({ name, goal, digits = 2, rounds, ...of }) => {
      const [middle, least, most] = [of.median, of.min, of.max].map((value) => value.toFixed(digits))
      return `| ${name} | ${middle} | ${least} … ${most} | ${rounds} | ${goal} |`
    }),
  ].join('\n')

/**
 * An operation of the API, its floor, the same ratio of processor time, which other programs on the machine change little, and what a
 * request costs in milliseconds of it.
 */
export type OperationResult = Result & { floor: string; cpuRatio: number; nodeMs: number; postgresMs: number; p50Ms: number }

export const tableOf = (result: readonly OperationResult[]): string =>
  [
    '| operation | ÷ its floor | least … most | rounds | goal | floor | by processor time | ms of Node | ms of Postgres | p50 in ms |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...result.map(({ name, median: middle, min, max, rounds, goal, floor, cpuRatio, nodeMs, postgresMs, p50Ms }) => {
      const spreadText = `${min.toFixed(2)} … ${max.toFixed(2)}`
      return `| ${name} | ${middle.toFixed(2)} | ${spreadText} | ${rounds} | ${goal} | ${floor} | ${cpuRatio.toFixed(2)} | ${nodeMs.toFixed(2)} | ${postgresMs.toFixed(2)} | ${p50Ms.toFixed(1)} |`
    }),
  ].join('\n')

const keep = async (what: string, result: unknown, write: boolean, more: object, shown: string): Promise<void> => {
  const at = new Date().toISOString()
  await writeFile('bench-result.json', `${JSON.stringify({ at, what, ...more, result }, null, 2)}\n`)
  if (!write) return
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), load ${loadavg()[0]?.toFixed(1)} at the end`
  const part = `<!-- ${what} -->\nOf ${at.slice(0, 10)}, ${machine}.\n\n${shown}\n<!-- /${what} -->`
  const text = await readFile(page, 'utf8')
  await writeFile(
    page,
    text.replace(new RegExp(`<!-- ${what} -->[^]*<!-- /${what} -->`), () => part),
  )
}

/** Into `bench-result.json`, and with `--write` into the part of docs/performance.md that has the name of the bench. */
export const save = (
  what: string,
  result: readonly Result[],
  write: boolean,
  more: object = {},
  shown = table(result),
): Promise<void> => keep(what, result, write, more, shown)

/** What a page read: blocks of Postgres, and the rows of the answer. */
export type PageRead = { blocks: number; rows: number }
export type PageResult = { name: string; small: PageRead; large: PageRead; deep: PageRead; flat: boolean }

export const savePages = (result: readonly PageResult[], { write, ...more }: { write: boolean }): Promise<void> => {
  const cell = ({ blocks, rows }: PageRead) => (Number.isFinite(blocks) ? `${blocks} (${rows})` : 'no answer')
  const lines = result.map(
    ({ name, small, large, deep, flat }) => `| ${name} | ${cell(small)} | ${cell(large)} | ${cell(deep)} | ${flat ? '' : 'no'} |`,
  )
  const shown = ['| list | small | large, first page | large, far in | flat |', '|---|---|---|---|---|', ...lines].join('\n')
  return keep('pages', result, write, more, shown)
}
