import { nodeHash } from '../../src/lib/merkle.ts'

type Bytes = Uint8Array<ArrayBufferLike>

const equal = (one: Bytes, other: Bytes): boolean => Buffer.from(one).equals(other)

/** RFC 9162, 2.1.4.2: whether the tree of size `from` is the beginning of the tree of size `to`. */
export const provesConsistency = (proof: {
  from: { size: number; root: Bytes }
  to: { size: number; root: Bytes }
  path: readonly Bytes[]
}): boolean => {
  const { from, to } = proof
  if (!Number.isSafeInteger(from.size) || !Number.isSafeInteger(to.size) || from.size < 1 || from.size > to.size) return false
  if (from.size === to.size) return proof.path.length === 0 && equal(from.root, to.root)
  const path = Number.isInteger(Math.log2(from.size)) ? [from.root, ...proof.path] : [...proof.path]
  let [index, last] = [from.size - 1, to.size - 1]
  while (index % 2 === 1) [index, last] = [Math.floor(index / 2), Math.floor(last / 2)]
  const [first, ...rest] = path
  if (!first) return false
  let [older, newer] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (index % 2 === 1 || index === last) {
      older = nodeHash(sibling, older)
      newer = nodeHash(sibling, newer)
      while (index % 2 === 0 && index !== 0) [index, last] = [index / 2, Math.floor(last / 2)]
    } else newer = nodeHash(newer, sibling)
    ;[index, last] = [Math.floor(index / 2), Math.floor(last / 2)]
  }
  return last === 0 && equal(older, from.root) && equal(newer, to.root)
}
