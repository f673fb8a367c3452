import type { Clock } from './clock.ts'

/** Takes one from a name's allowance; false when it is used up until the next window. */
export type Allowance = (name: string) => boolean

/**
 * How often something may be done in a window: for each name, and for all names together, so that many names do not avoid the limit.
 * Of this process alone; it holds at most `maxTotal` names.
 */
export const createAllowance = (
  clock: Clock,
  { perName, maxTotal, windowSeconds }: { perName: number; maxTotal: number; windowSeconds: number },
): Allowance => {
  let began = 0
  let total = 0
  const used = new Map<string, number>()
  return (name) => {
    const now = clock.now().getTime()
    if (now - began >= windowSeconds * 1000) {
      began = now
      total = 0
      used.clear()
    }
    const before = used.get(name) ?? 0
    if (before >= perName || total >= maxTotal) return false
    used.set(name, before + 1)
    total += 1
    return true
  }
}
