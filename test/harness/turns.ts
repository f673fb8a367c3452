import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

// How long one request keeps every other one waiting: the processor time of the longest event-loop turn during it. Another
// process sends it, so that only the service's own work is measured. Processor time, so that a busy machine does not count.

const sender = `
process.on('message', async ({ url, options }) => {
  const answer = await fetch(url, options)
  const text = await answer.text()
  process.send({ status: answer.status, text: text.slice(0, 500) })
})`

const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage }
const usedMs = (): number => {
  const { user, system } = threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

const workMs = (): number => {
  const begin = usedMs()
  let length = 0
  for (let id = 0; id < 200_000; id++) length += JSON.stringify({ id, text: 'payment' }).length
  return length > 0 ? usedMs() - begin : Number.NaN
}

/**
 * How much slower a fixed piece of work is than on the machine of docs/security.md; at least 1. That machine's 22 ms are
 * computed, not measured: 65 ms on one where the same requests took about three times as long.
 */
export const slowness = (): number => {
  const times = Array.from({ length: 9 }, workMs).toSorted((a, b) => a - b)
  return Math.max(1, (times[4] ?? Number.NaN) / 22)
}

export type Turns = { status: number; text: string; longestMs: number; totalMs: number }
export type Sent = { method: string; headers?: Record<string, string>; body?: string }

export const createTurns = () => {
  const child: ChildProcess = spawn(process.execPath, ['-e', sender], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return {
    measure: async (url: string, options: Sent): Promise<Turns> => {
      const begin = usedMs()
      let [last, longest, isOver] = [begin, 0, false]
      const turn = () => {
        const now = usedMs()
        longest = Math.max(longest, now - last)
        last = now
        if (!isOver) setImmediate(turn)
      }
      setImmediate(turn)
      const answered = once(child, 'message')
      child.send({ url, options })
      const [{ status, text }] = await answered
      isOver = true
      return { status, text, longestMs: longest, totalMs: usedMs() - begin }
    },
    close: () => child.kill(),
  }
}
