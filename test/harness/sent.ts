import pg from 'pg'
import { vi } from 'vitest'

/** Statements sent to Postgres. `trips`: the number of sends, of which all that leave together count once. */
export type Sent = { statements: { name: string | undefined; text: string; values: readonly unknown[] }[]; trips: number }

const control = /^(begin|commit|rollback|savepoint|release|notify)\b/

/**
 * This process's statements while `work` runs. Statements issued on one connection before the next tick leave in one system call.
 */
export const sentDuring = async (work: () => Promise<unknown>): Promise<Sent> => {
  const statements: Sent['statements'] = []
  const flushes = new Set<string>()
  const numbers = new Map<pg.Client, number>()
  let turn = 0
  let isCounted = false
  const original = pg.Client.prototype.query
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...parameters: unknown[]) {
    if (!isCounted) {
      isCounted = true
      process.nextTick(() => {
        isCounted = false
        turn += 1
      })
    }
    const number = numbers.get(this) ?? numbers.size
    numbers.set(this, number)
    flushes.add(`${turn} ${number}`)
    const query = parameters[0] as string | { text: string; name?: string; values?: unknown[] }
    const { text, name, values = [] } = typeof query === 'string' ? { text: query } : query
    if (!control.test(text)) statements.push({ name, text, values })
    return Reflect.apply(original, this, parameters)
  } as typeof original)
  try {
    await work()
    return { statements, trips: flushes.size }
  } finally {
    spy.mockRestore()
  }
}
