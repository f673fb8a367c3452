import { z } from 'zod'
import { RecordOut, TimeOut } from '../../http/wire.ts'

// A seal contains the hash of audit rows. Seals are the leaves of the log, and a signed head covers the whole log.

const Digest = z.string().describe('A SHA-256 hash in 64 hexadecimal digits.')
const Path = z.array(Digest).describe('The audit path from the leaf to the root (RFC 6962).')

export const LogHead = RecordOut('AuditLogHead', {
  size: z.number().int().describe('The number of seals in the log.'),
  root: Digest.describe('The Merkle root of the seals.'),
  sealed_at: TimeOut.describe('When the head was sealed.'),
  jws: z
    .string()
    .describe(
      'A detached JWS (EdDSA, typ `audit-log-head`) over the RFC 8785 form of {issuer, root, sealed_at, size}, signed by a key in /.well-known/jwks.json.',
    ),
})
export type LogHead = z.output<typeof LogHead>

export const RowProof = RecordOut('AuditRowProof', {
  line: z
    .string()
    .describe(
      'The sealed audit row: its columns as a JSON array. The change, the IP address and the browser are included as one hash.',
    ),
  index: z.number().int(),
  rows: z.number().int().describe('The number of rows in the seal. `index` is the position of this row.'),
  path: Path,
  seal: z.number().int().describe('The position of the seal in the log, from 0.'),
  rows_root: Digest.describe('The Merkle root of the rows in the seal, which is a leaf of the log.'),
  seal_path: Path,
})
export type RowProof = z.output<typeof RowProof>

export const SealedLog = RecordOut('SealedLog', {
  head: LogHead.describe('The newest signed head of the log.'),
  consistency: z
    .object({ from: z.number().int(), path: Path })
    .nullable()
    .describe('The proof that the log with `from` seals is a prefix of this log (RFC 6962, section 2.1.2). Null without `from`.'),
})

export const LogQuery = z.strictObject({
  from: z.coerce
    .number()
    .int()
    .positive()
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('The size of a head that you received earlier.'),
})

export const KeySet = RecordOut('JsonWebKeySet', {
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
      kid: z.string(),
      x: z.string(),
      iat: z.number().int().describe('When the key was first used, in seconds since 1970.'),
      exp: z
        .number()
        .int()
        .optional()
        .describe('When the key was retired. It signs nothing afterwards, but its earlier signatures remain valid.'),
    }),
  ),
})
