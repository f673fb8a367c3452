import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { say } from './connection.ts'
import type { Run } from './load.ts'

export const median = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2
}
const shown = (value: number): string => value.toFixed(Math.abs(value) >= 100 ? 0 : 2)
/** Bold if the value misses its goal, which begins with ≥ or ≤ or is empty. */
const marked = (value: number, goal: string): string => {
  const bound = Number.parseFloat(goal.slice(1))
  const isMissed = goal.startsWith('≥') ? value < bound : value > bound
  return isMissed ? `**${shown(value)}**` : shown(value)
}

/** Figures noted round by round. */
export class Notes {
  /** Lines with a form of their own. */
  readonly wide: string[] = []
  #lists = new Map<string, { goal: string; values: number[] }>()

  note(name: string, value: number, goal = ''): void {
    say(`  ${name}: ${shown(value)}`)
    const { values } = this.#lists.get(name) ?? { values: [] }
    // A load may have had no refusal, or no accepted request.
    if (Number.isFinite(value)) this.#lists.set(name, { goal, values: [...values, value] })
  }

  lines(): string[] {
    const figures = [...this.#lists].map(([name, { goal, values }]) => {
      const range = `${shown(Math.min(...values))} … ${shown(Math.max(...values))}`
      return `${name} | ${marked(median(values), goal)} | ${range} | ${values.length} | ${goal}`
    })
    return [...this.wide, ...figures]
  }
}

/** Requests per second and processor time ÷ those of the floor, and milliseconds per request. */
export type Sample = { ratio: number; byTime: number; nodeMs: number; postgresMs: number }
type Row = { name: string; kind: string; goal: number; samples: Sample[] }

/** Four operations per line, to fit the page. `ms`: Node's and Postgres'. */
export const linesOf = (rows: readonly Row[]): string[] => {
  const cells = rows.map(({ name, kind, goal, samples }) => {
    const of = (field: keyof Sample) => median(samples.map((sample) => sample[field]))
    const ms = `${shown(of('nodeMs'))} + ${shown(of('postgresMs'))}`
    return `${name} | ${marked(of('ratio'), `≥ ${goal}`)} of ${kind} (${shown(of('byTime'))}) | ${ms}`
  })
  const height = Math.ceil(cells.length / 4)
  const line = (index: number) => [0, 1, 2, 3].map((column) => cells[column * height + index] ?? ' | | ').join(' | ')
  return cells.slice(0, height).map((_, index) => line(index))
}

const page = new URL('../../docs/performance.md', import.meta.url)

/** Rewrites the lines of the page's table that begin with the part's name, with the method of measurement before them. */
export const save = async (part: string, size: Run['size'], lines: readonly string[]): Promise<void> => {
  const { rounds, seconds, callers } = size
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()})`
  const measured = `${new Date().toISOString().slice(0, 10)}, ${machine}, ${rounds} rounds of ${seconds} s, ${callers} callers`
  const found = [measured, ...lines].map((line) => `| ${part} | ${line} |`)
  say(found.join('\n'))
  const before = (await readFile(page, 'utf8')).split('\n')
  const isOwn = (line: string) => line.startsWith(`| ${part} | `)
  const index = before.findIndex(isOwn)
  if (index < 0) throw new Error(`docs/performance.md has no line for ${part}`)
  const rest = before.filter((line) => !isOwn(line))
  await writeFile(page, [...rest.slice(0, index), ...found, ...rest.slice(index)].join('\n'))
}
