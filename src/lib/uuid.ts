import { randomUUID } from 'node:crypto'
import { systemClock } from './clock.ts'

/** A UUIDv7 in its text form: what the database's `uuid` columns hold. On the wire it is a TypeID. */
export type Uuid = string

let lastMs = 0
let sequence = 0

/**
 * RFC 9562, section 5.7 with method 1 of 6.2: 48 bits of milliseconds, then a counter of 32 bits that starts at a random place, then 40
 * random bits. Ids of one process ascend, also within a millisecond and when the clock is set back.
 */
export const newUuid = (): Uuid => {
  const ms = systemClock.now().getTime()
  const random = randomUUID()
  if (ms > lastMs) {
    lastMs = ms
    sequence = Number.parseInt(random.slice(0, 8), 16) >>> 1
  } else {
    sequence = (sequence + 1) >>> 0
    if (sequence === 0) lastMs += 1
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const count = sequence.toString(16).padStart(8, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3, 6)}-${count.slice(6)}${random.slice(-10)}`
}

const latestMs = 2 ** 48 - 1

/** The smallest id of an instant: ids that were made later are greater. */
export const firstIdAt = (at: Date): Uuid => {
  const digits = Math.min(latestMs, Math.max(0, at.getTime())).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`
}

/** Before and after every id. */
export const firstId: Uuid = '00000000-0000-0000-0000-000000000000'
export const lastId: Uuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** When an id was made. */
export const timeOfId = (id: Uuid): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
