const hash = async (...parts: readonly Uint8Array[]): Promise<Uint8Array> => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

const above = async (hashes: readonly Uint8Array[]): Promise<Uint8Array> => {
  const [only] = hashes
  if (only && hashes.length === 1) return only
  // RFC 6962: the left part has the largest power of two below the count.
  const left = 2 ** Math.floor(Math.log2(hashes.length - 1))
  const parts = await Promise.all([above(hashes.slice(0, left)), above(hashes.slice(left))])
  return hash(nodePrefix, ...parts)
}

/** The root over the leaves in their order (RFC 6962, section 2.1), hexadecimal: computed here, not taken from the service. */
export const merkleRoot = async (leaves: readonly string[]): Promise<string> => {
  const encoder = new TextEncoder()
  const hashes = await Promise.all(leaves.map((leaf) => hash(leafPrefix, encoder.encode(leaf))))
  const root = await above(hashes)
  return Array.from(root, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
