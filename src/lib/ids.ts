import { randomUUID } from 'node:crypto'
import { systemClock } from './clock.ts'
import { compactNumber } from './text.ts'

/** A UUIDv7 as stored in the database. The API shows it as a TypeID. */
export type Uuid = string

let lastMs = 0
let sequence = 0

/**
 * RFC 9562, section 5.7 with method 1 of section 6.2: 48 bits of milliseconds, a 32-bit counter with a random start, 40 random
 * bits. Ids of one process ascend, even within a millisecond and if the clock is set back.
 */
export const newId = (): Uuid => {
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

/** The smallest id at a given time. Later ids are greater. */
export const firstIdAt = (at: Date): Uuid => {
  const digits = Math.min(latestMs, Math.max(0, at.getTime())).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`
}

/** Lower and upper bounds of all ids. */
export const firstId: Uuid = '00000000-0000-0000-0000-000000000000'
export const lastId: Uuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const timeOfId = (id: Uuid): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))

const none = 255

/** Digits, bits per digit, and a template with the positions of the digits. */
const notation = (digits: string, bits: number, shape: string) => {
  const codes = Uint8Array.from(digits, (digit) => digit.charCodeAt(0))
  const values = new Uint8Array(128).fill(none)
  for (const [value, code] of codes.entries()) values[code] = value
  // A preallocated array creates less garbage than appending digits. Not a Buffer, because the verifier also runs in browsers.
  const written = Array.from(shape, (character) => character.charCodeAt(0))
  const places = written.flatMap((_, index) => (shape[index] === '-' ? [] : [index]))
  return { codes, values, bits, mask: 2 ** bits - 1, written, places }
}
type Notation = ReturnType<typeof notation>

const hexadecimal = notation('0123456789abcdef', 4, firstId)
/** Crockford's base 32, as in a TypeID after its prefix: two zero bits, then 128 bits. */
const base32 = notation('0123456789abcdefghjkmnpqrstvwxyz', 5, '0'.repeat(26))
const paddingBits = 2

const reencode = (text: string, from: Notation, to: Notation, padding: number): string | undefined => {
  let bits = 0
  let heldBits = padding
  let length = 0
  for (let index = 0; index < from.places.length; index += 1) {
    const value = from.values[text.charCodeAt(from.places[index] ?? 0)] ?? none
    if (value === none) return undefined
    bits = (bits << from.bits) | value
    heldBits += from.bits
    while (heldBits >= to.bits) {
      heldBits -= to.bits
      to.written[to.places[length] ?? 0] = to.codes[(bits >>> heldBits) & to.mask] ?? 0
      length += 1
    }
    bits &= (1 << heldBits) - 1
  }
  return String.fromCharCode(...to.written)
}

export const encodeUuid = (uuid: Uuid): string => reencode(uuid, hexadecimal, base32, paddingBits) ?? ''

/** Undefined unless the text is 26 lowercase digits that encode at most 128 bits. */
export const decodeUuid = (text: string): Uuid | undefined =>
  text.length === base32.places.length && text.charCodeAt(0) <= 0x37
    ? reencode(text, base32, hexadecimal, -paddingBits)
    : undefined

/** Secrets have separate prefixes (auth/secrets.ts). */
export const idPrefixes = {
  account: 'acc',
  identity: 'idn',
  passkey: 'pky',
  session: 'ses',
  api_key: 'key',
  grant: 'gra',
  oauth_client: 'oac',
  oauth_authorization: 'oaz',
  workspace: 'wsp',
  member: 'mem',
  invitation: 'inv',
  beneficiary: 'ben',
  policy: 'pol',
  payment: 'pay',
  payment_batch: 'pba',
  payment_refusal: 'rfs',
  approval: 'apr',
  mandate: 'man',
  topup: 'top',
  push_subscription: 'psh',
  event: 'evt',
  ledger: 'led',
  suspense: 'sus',
  alert: 'alr',
  reconciliation: 'rec',
  movement: 'mov',
  audit: 'aud',
  request: 'req',
} as const

export type IdKind = keyof typeof idPrefixes

export const formatId = (kind: IdKind, id: Uuid): string => `${idPrefixes[kind]}_${encodeUuid(id)}`

export const parseId = (kind: IdKind, text: string): Uuid | undefined => {
  const prefix = idPrefixes[kind]
  return text.startsWith(prefix) && text[prefix.length] === '_' ? decodeUuid(text.slice(prefix.length + 1)) : undefined
}

export const isIdKind = (text: string): text is IdKind => Object.hasOwn(idPrefixes, text)

/** The fault in a text that resembles an id of this kind, worded for the sender. Undefined if there is no resemblance. */
export const idProblem = (kind: IdKind, text: string): string | undefined => {
  const prefix = idPrefixes[kind]
  const lower = compactNumber(text).toLowerCase()
  if (parseId(kind, lower))
    return compactNumber(text) === text
      ? `must be lowercase: send "${lower}"`
      : `has a space or a character that is not shown: send "${lower}"`
  const other = Object.values(idPrefixes).find((known) => lower.startsWith(`${known}_`))
  return other === undefined || other === prefix
    ? undefined
    : `begins with ${other}_, which is another kind of id; send one that begins with ${prefix}_`
}

const knownPrefixes: ReadonlySet<string> = new Set(Object.values(idPrefixes))

export const parseAnyId = (text: string): Uuid | undefined => {
  const end = text.indexOf('_')
  return knownPrefixes.has(text.slice(0, Math.max(0, end))) ? decodeUuid(text.slice(end + 1)) : undefined
}
