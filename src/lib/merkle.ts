import { sha256 } from '@noble/hashes/sha2'

// Merkle trees of RFC 6962, section 2.1. Leaves and inner nodes are hashed with different prefixes, so that neither can be taken
// for the other. Plain JavaScript, because the service, the dashboard and the receipt verifier share this code.

type Bytes = Uint8Array<ArrayBufferLike>

const prefixed = (prefix: number, ...parts: Bytes[]): Bytes => {
  const hash = sha256.create().update(Uint8Array.of(prefix))
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const encoder = new TextEncoder()

export const leafHash = (content: Bytes | string): Bytes =>
  prefixed(0, typeof content === 'string' ? encoder.encode(content) : content)

export const nodeHash = (left: Bytes, right: Bytes): Bytes => prefixed(1, left, right)

/** Where a tree splits: the largest power of two below `size`, which must be at least 2. */
const splitOf = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1)

/** The hash over leaves `start` to `end` (exclusive). Reads complete subtrees by level and index, as a stored tree has them. */
const subtree = (start: number, end: number, node: (level: number, index: number) => Bytes): Bytes => {
  const size = end - start
  const level = Math.log2(size)
  if (Number.isInteger(level) && start % size === 0) return node(level, start / size)
  const middle = start + splitOf(size)
  return nodeHash(subtree(start, middle, node), subtree(middle, end, node))
}

export type ReadNode = (level: number, index: number) => Bytes

export const rootOf = (size: number, node: ReadNode): Bytes => (size === 0 ? sha256(new Uint8Array()) : subtree(0, size, node))

/** PATH of RFC 6962, from the leaf up. */
export const inclusionPath = (index: number, size: number, node: ReadNode): Bytes[] => {
  const pathIn = (start: number, end: number): Bytes[] => {
    if (end - start <= 1) return []
    const middle = start + splitOf(end - start)
    return index < middle
      ? [...pathIn(start, middle), subtree(middle, end, node)]
      : [...pathIn(middle, end), subtree(start, middle, node)]
  }
  return pathIn(0, size)
}

/** PROOF of RFC 6962: the first `from` leaves are a prefix of the first `to`. 0 < from ≤ to. */
export const consistencyPath = (from: number, to: number, node: ReadNode): Bytes[] => {
  const proofIn = (start: number, end: number, whole: boolean): Bytes[] => {
    if (from === end) return whole ? [] : [subtree(start, end, node)]
    const middle = start + splitOf(end - start)
    return from <= middle
      ? [...proofIn(start, middle, whole), subtree(middle, end, node)]
      : [...proofIn(middle, end, false), subtree(start, middle, node)]
  }
  return proofIn(0, to, true)
}

export const treeOf = (leaves: readonly Bytes[], join = nodeHash): ReadNode => {
  const levels: (readonly Bytes[])[] = [leaves]
  return (level, index) => {
    for (let known = levels.length - 1; known < level; known += 1) {
      const below = levels[known] ?? []
      const pairs = Math.floor(below.length / 2)
      levels.push(Array.from({ length: pairs }, (_, index) => join(below[2 * index] as Bytes, below[2 * index + 1] as Bytes)))
    }
    const hash = levels[level]?.[index]
    if (!hash) throw new RangeError('there is no such node')
    return hash
  }
}

const equal = (one: Bytes, other: Bytes): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

/** RFC 9162, section 2.1.3.2. */
export const provesInclusion = (proof: {
  leaf: Bytes
  index: number
  size: number
  path: readonly Bytes[]
  root: Bytes
}): boolean => {
  const { leaf, index, size, path, root } = proof
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false
  let [place, last, hash] = [index, size - 1, leaf]
  for (const sibling of path) {
    if (last === 0) return false
    if (place % 2 === 1 || place === last) {
      hash = nodeHash(sibling, hash)
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)]
    } else hash = nodeHash(hash, sibling)
    ;[place, last] = [Math.floor(place / 2), Math.floor(last / 2)]
  }
  return last === 0 && equal(hash, root)
}
