import type { MovableClock } from '../../lib/clock.ts'
import type { MoveTime } from './control.ts'
import { readDocument, writeDocument } from './store.ts'

const name = 'clock.json'

/** How far the time of the sandbox that keeps its money in this folder is ahead. */
export const storedOffsetMs = (folder: string): number => {
  const stored = readDocument(folder, name)
  return stored === undefined ? 0 : Number(JSON.parse(stored).offset_ms)
}

/** The sandbox's time, kept with its money: after a restart it does not go back. */
export const createSandboxTime = (
  clock: MovableClock,
  scheduler: { advance: (ms: number) => void },
  folder: string | undefined,
): MoveTime => {
  if (folder !== undefined) clock.moveTo(storedOffsetMs(folder))
  return {
    offsetMs: clock.offsetMs,
    advance: (seconds) => {
      const offset = clock.offsetMs() + seconds * 1000
      clock.moveTo(offset)
      if (folder !== undefined) writeDocument(folder, name, JSON.stringify({ offset_ms: offset }))
      scheduler.advance(seconds * 1000)
      return offset
    },
  }
}
