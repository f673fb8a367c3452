import type { z } from 'zod'
import type { LogHead, RowProof } from '../../events/seal-proof.ts'
import { isoTime } from '../../lib/clock.ts'
import type { KeySet, RowProof as RowProofOut } from './schema.ts'
import type { SigningKeyRecord } from './signing-keys.ts'

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)

export const presentKeys = (keys: readonly SigningKeyRecord[]): z.output<typeof KeySet> => ({
  keys: keys.map(({ id, publicKey, createdAt, retiredAt }) => ({
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    kid: id,
    x: publicKey.toString('base64url'),
    iat: seconds(createdAt),
    ...(retiredAt && { exp: seconds(retiredAt) }),
  })),
})

/** What a head's signature is over. */
export const headStatement = (issuer: string, { size, root, sealedAt }: LogHead) => ({
  issuer,
  root: hex(root),
  sealed_at: isoTime(sealedAt),
  size,
})

export const presentProof = (proof: RowProof): RowProofOut => ({
  line: proof.line,
  index: proof.index,
  rows: proof.rows,
  path: proof.path.map(hex),
  seal: proof.seal,
  rows_root: hex(proof.rowsRoot),
  seal_path: proof.sealPath.map(hex),
})
