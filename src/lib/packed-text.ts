import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { dictionaries, dictionaryOf } from './packed-dictionaries.ts'

// Texts that are kept for ever and never searched: answers, and what decisions were made from. Postgres compresses rows above two kilobytes only,
// and each text by itself, so of such a text most would be names of fields. With a dictionary of these, a tenth to a fifth of the text is stored.

export type PackedKind = keyof typeof dictionaryOf

/** A window of 8 KB holds a dictionary and the text behind it; one of 4 KB all but the rarest texts of the dictionary. */
const windowBits = 13
/**
 * Most of the time is spent on what zlib begins with, so it gets little memory, and a buffer for what is packed, not for the text. Measured with
 * answers to payments: 18 µs; with a higher level 21 and three bytes less in a hundred.
 */
const settings = { level: 3, memLevel: 4, windowBits: 12, chunkSize: 512 } as const

const plain = 0

/** The number of the dictionary, and the text by RFC 1951; a text that would not get shorter as it is. */
export const pack = (kind: PackedKind, text: string): Buffer => {
  const number = dictionaryOf[kind]
  const bytes = Buffer.from(text)
  const packed = deflateRawSync(bytes, { ...settings, dictionary: dictionaries[number] })
  return packed.length < bytes.length
    ? Buffer.concat([Buffer.from([number]), packed])
    : Buffer.concat([Buffer.from([plain]), bytes])
}

/** Throws on bytes that `pack` did not make. */
export const unpack = (bytes: Buffer): string => {
  const number = bytes[0] ?? -1
  if (number === plain) return bytes.toString('utf8', 1)
  const dictionary = dictionaries[number]
  if (!dictionary) throw new Error('a packed text names a dictionary that does not exist')
  return inflateRawSync(bytes.subarray(1), { windowBits, chunkSize: 4096, dictionary }).toString()
}
