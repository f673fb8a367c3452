import { hash } from 'node:crypto'
import { leafHash, nodeHash } from '../lib/merkle.ts'

// The sealed log is a Merkle tree of RFC 6962 in two levels: each seal has the root over its rows, and the tree over all seals has the root
// of each seal as a leaf. A proof for one row is the way to its seal's root, and from there to the root over all seals: some twenty hashes for
// millions of rows. Only the nodes of the upper tree are stored, two for each seal; a seal's own rows are read again for a proof.

/** The purpose of TOKEN_SECRETS with which a seal's hash is keyed. */
export const sealPurpose = 'audit.seal'

/** A node over 2^level seals, beginning with seal `place · 2^level` (counted from 0). */
export type SealNode = { level: number; place: number; hash: Uint8Array }

const pair = Buffer.alloc(1 + 32 + 32, 1)
const joined = (left: Buffer, right: Buffer): Buffer => {
  left.copy(pair, 1)
  right.copy(pair, 1 + 32)
  return hash('sha256', pair, 'buffer')
}

/** `leafHash` of a row's line, by Node's own hash function. */
export const leafOfLine = (line: string): Buffer => hash('sha256', `\0${line}`, 'buffer')

/**
 * The root over a seal's rows, one line for each: `rootOf` of their leaves, by Node's own hash function, which takes a third of the time. A seal is
 * made and verified over millions of rows.
 */
export const rowsRoot = (lines: readonly string[]): Buffer => {
  let level: Buffer[] = lines.map(leafOfLine)
  while (level.length > 1) {
    const nodes: Buffer[] = []
    for (let index = 0; index < level.length; index += 2) {
      const [left, right] = [level[index], level[index + 1]]
      if (left) nodes.push(right ? joined(left, right) : left)
    }
    level = nodes
  }
  return level[0] ?? hash('sha256', '', 'buffer')
}

/** The largest complete subtrees of a tree over `size` seals, from the left: together they are the whole tree. */
export const peaksOf = (size: number): Omit<SealNode, 'hash'>[] => {
  const peaks: Omit<SealNode, 'hash'>[] = []
  for (let [level, start] = [Math.floor(Math.log2(Math.max(size, 1))), 0]; level >= 0; level -= 1) {
    const span = 2 ** level
    if (size - start < span) continue
    peaks.push({ level, place: start / span })
    start += span
  }
  return peaks
}

export type Grown = { peaks: SealNode[]; completed: SealNode[] }

/** The tree with one more seal: its peaks, and the nodes that this seal completes. */
export const grow = (peaks: readonly SealNode[], size: number, root: Uint8Array): Grown => {
  const left = [...peaks]
  let node: SealNode = { level: 0, place: size, hash: leafHash(root) }
  const completed = [node]
  for (let last = left.at(-1); last?.level === node.level; last = left.at(-1)) {
    left.pop()
    node = { level: node.level + 1, place: Math.floor(node.place / 2), hash: nodeHash(last.hash, node.hash) }
    completed.push(node)
  }
  return { peaks: [...left, node], completed }
}

/** The root over all seals. */
export const rootOfPeaks = (peaks: readonly SealNode[]): Buffer =>
  Buffer.from(peaks.map(({ hash }) => hash).reduceRight((right, left) => nodeHash(left, right)))
