import { randomFillSync } from 'node:crypto'
import { systemClock } from './clock.ts'

/** A UUIDv7 in its text form: what the database's `uuid` columns hold. On the wire it is a TypeID. */
export type Uuid = string

const hexCodes = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** A text that is joined from its parts leaves each step to the garbage collector: half the time of an id, and ten times its memory. */
const written = Array.from('________-____-____-____-____________', (character) => character.charCodeAt(0))

const writeByte = (at: number, value: number): void => {
  written[at] = hexCodes[(value >>> 4) & 15] ?? 0
  written[at + 1] = hexCodes[value & 15] ?? 0
}

// One call of the system's generator for many ids: a call for each would cost more than everything else here.
const pool = Buffer.alloc(4096)
let used = pool.length

const randomByte = (): number => {
  if (used >= pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const byte = pool[used] ?? 0
  used += 1
  return byte
}

let lastMs = 0
let sequence = 0

const randomSequence = () => ((randomByte() & 0x7f) << 24) | (randomByte() << 16) | (randomByte() << 8) | randomByte()

/**
 * RFC 9562, section 5.7 with method 1 of 6.2: 48 bits of milliseconds, then a counter of 32 bits that starts at a random place, then 42
 * random bits. Ids of one process ascend, also within a millisecond and when the clock is set back.
 */
export const newUuid = (): Uuid => {
  const ms = systemClock.now().getTime()
  if (ms > lastMs) {
    lastMs = ms
    sequence = randomSequence()
  } else {
    sequence = (sequence + 1) >>> 0
    if (sequence === 0) lastMs += 1
  }
  const high = Math.floor(lastMs / 0x1_0000)
  const low = lastMs & 0xffff
  writeByte(0, high >>> 24)
  writeByte(2, high >>> 16)
  writeByte(4, high >>> 8)
  writeByte(6, high)
  writeByte(9, low >>> 8)
  writeByte(11, low)
  writeByte(14, 0x70 | (sequence >>> 28))
  writeByte(16, sequence >>> 20)
  writeByte(19, 0x80 | ((sequence >>> 14) & 0x3f))
  writeByte(21, sequence >>> 6)
  writeByte(24, (sequence << 2) | (randomByte() & 3))
  for (let at = 26; at < 36; at += 2) writeByte(at, randomByte())
  return String.fromCharCode(...written)
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
