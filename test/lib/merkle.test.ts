import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rootOfRows } from '../../src/events/seal.ts'
import { consistencyPath, inclusionPath, leafHash, provesInclusion, rootOf, treeOf } from '../../src/lib/merkle.ts'
import { provesConsistency } from '../harness/consistency.ts'

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
/** The definition of RFC 6962, section 2.1, word for word. */
const defined = (leaves: readonly Uint8Array[]): Buffer => {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return sha256(Buffer.of(0), leaves[0] ?? Buffer.alloc(0))
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return sha256(Buffer.of(1), defined(leaves.slice(0, split)), defined(leaves.slice(split)))
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const contents = (size: number) => Array.from({ length: size }, (_, index) => Buffer.from(`leaf ${index}`))
const tree = (size: number) => treeOf(contents(size).map((content) => leafHash(content)))

test('the root is that of RFC 6962 for every size up to 70', () => {
  for (let size = 0; size <= 70; size += 1) expect(hex(rootOf(size, tree(size)))).toBe(hex(defined(contents(size))))
})

test('the roots and paths are those of the RFC 6962 test vectors', () => {
  // The inputs and hashes of Certificate Transparency's own tests.
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const leaves = inputs.map((text) => leafHash(Buffer.from(text, 'hex')))
  expect([1, 2, 3, 8].map((size) => hex(rootOf(size, treeOf(leaves))))).toEqual([
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ])
})

describe('inclusion', () => {
  test('every leaf of every tree up to 70 is proven, at its own place alone', () => {
    for (let size = 1; size <= 70; size += 1) {
      const node = tree(size)
      const root = rootOf(size, node)
      for (let index = 0; index < size; index += 1) {
        const path = inclusionPath(index, size, node)
        const leaf = leafHash(`leaf ${index}`)
        expect(provesInclusion({ leaf, index, size, path, root })).toBe(true)
        if (size > 1) expect(provesInclusion({ leaf, index: (index + 1) % size, size, path, root })).toBe(false)
        expect(provesInclusion({ leaf: leafHash('another'), index, size, path, root })).toBe(false)
      }
    }
  })

  test('no changed, shortened or lengthened path proves it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300 }), fc.nat(), fc.nat(), fc.integer({ min: 0, max: 31 }), (size, a, b, byte) => {
        const index = a % size
        const node = tree(size)
        const path = inclusionPath(index, size, node)
        const proof = { leaf: leafHash(`leaf ${index}`), index, size, root: rootOf(size, node) }
        const changed = path.map((hash, index) => {
          const copy = Uint8Array.from(hash)
          if (index === b % path.length) copy[byte] = (copy[byte] ?? 0) ^ 1
          return copy
        })
        expect(provesInclusion({ ...proof, path: changed })).toBe(false)
        expect(provesInclusion({ ...proof, path: path.slice(1) })).toBe(false)
        expect(provesInclusion({ ...proof, path: path.slice(0, -1) })).toBe(false)
        expect(provesInclusion({ ...proof, path: [...path, leafHash('more')] })).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  test('an inner node is not a leaf', () => {
    const node = tree(4)
    const path = inclusionPath(0, 2, (level, index) => node(level + 1, index))
    expect(provesInclusion({ leaf: node(1, 0), index: 0, size: 4, path, root: rootOf(4, node) })).toBe(false)
  })
})

describe('consistency', () => {
  test('every tree is the beginning of every later one up to 40, and of no other', () => {
    for (let size = 1; size <= 40; size += 1) {
      const node = tree(size)
      const to = { size, root: rootOf(size, node) }
      for (let before = 1; before <= size; before += 1) {
        const path = consistencyPath(before, size, node)
        const from = { size: before, root: rootOf(before, node) }
        expect(provesConsistency({ from, to, path }), `${before} in ${size}`).toBe(true)
        expect(provesConsistency({ from: { ...from, root: leafHash('rewritten') }, to, path })).toBe(false)
        expect(provesConsistency({ from, to: { ...to, root: leafHash('rewritten') }, path })).toBe(false)
        if (path.length > 0) expect(provesConsistency({ from, to, path: path.slice(1) })).toBe(false)
      }
    }
  })

  test('a log whose earlier leaf was rewritten is not consistent with what was seen of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(), fc.nat(), (size, a, b) => {
        const before = 1 + (a % (size - 1))
        const rewritten = treeOf(contents(size).map((content, index) => leafHash(index === b % before ? 'rewritten' : content)))
        const from = { size: before, root: rootOf(before, tree(size)) }
        const to = { size, root: rootOf(size, rewritten) }
        expect(provesConsistency({ from, to, path: consistencyPath(before, size, rewritten) })).toBe(false)
      }),
      { numRuns: 200 },
    )
  })
})

test('the root over the rows of a seal is the root of RFC 6962, for any number of rows', () => {
  for (let size = 0; size <= 130; size += 1) {
    const lines = Array.from({ length: size }, (_, index) => `["${index}", "ä \u0000"]`)
    const leaves = lines.map((line) => leafHash(line))
    expect(hex(rootOfRows(leaves))).toBe(hex(rootOf(size, treeOf(leaves))))
  }
})
