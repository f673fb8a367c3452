/** 256-bit keys. The current key encrypts new values, and all keys decrypt. */
export type Key = { id: string; bytes: Buffer }
export type KeyRing = { current: Key; all: ReadonlyMap<string, Key> }

/** Throws a one-sentence error unless every entry is 32 bytes with a short name. */
export const parseKeyRing = (text: string): KeyRing => {
  const keys = text.split(',').map((entry): Key => {
    const [id = '', encoded = ''] = entry.trim().split(/:(.*)/s)
    const bytes = Buffer.from(encoded, 'base64')
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
      throw new RangeError('each entry must be id:base64, with a short id of letters, digits, - and _')
    if (bytes.length !== 32) throw new RangeError(`the key "${id}" must be 32 bytes in base64`)
    return { id, bytes }
  })
  const [current] = keys
  const all = new Map(keys.map((key) => [key.id, key]))
  if (!current) throw new RangeError('there must be at least one key')
  if (all.size !== keys.length) throw new RangeError('two entries have the same id')
  return { current, all }
}

/** 32 random bytes have about 30 distinct values. The chance of fewer than 16 is below 1 in 10^15. */
const leastDistinctBytes = 16

export const looksRandom = (bytes: Uint8Array): boolean => new Set(bytes).size >= leastDistinctBytes
