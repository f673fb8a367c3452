import { z } from 'zod'
import { RecordOut, TimeOut } from '../../http/wire.ts'

const Digest = z.string().describe('SHA-256, 64 hex digits.')
const Path = z.array(Digest).describe('RFC 6962: the audit path, from the leaf to the root.')

export const LogHead = RecordOut('AuditLogHead', {
  size: z.number().int().describe('How many seals the log has.'),
  root: Digest.describe('The Merkle root over them.'),
  sealed_at: TimeOut.describe('When it was sealed.'),
  jws: z
    .string()
    .describe(
      'A detached JWS (EdDSA, typ `audit-log-head`) over the RFC 8785 form of {issuer, root, sealed_at, size} by a key of /.well-known/jwks.json.',
    ),
})
export type LogHead = z.output<typeof LogHead>

export const RowProof = RecordOut('AuditRowProof', {
  line: z
    .string()
    .describe(
      'The audit row as it was sealed: its columns as a JSON array. What changed, the address and the browser are in it as one hash.',
    ),
  index: z.number().int(),
  rows: z.number().int().describe('How many rows the seal has; `index` is the place of this one among them.'),
  path: Path,
  seal: z.number().int().describe('The place of the seal in the log, from 0.'),
  rows_root: Digest.describe('The root over the seal’s rows: a leaf of the log.'),
  seal_path: Path,
})
export type RowProof = z.output<typeof RowProof>

export const SealedLog = RecordOut('SealedLog', {
  head: LogHead.describe('The newest seal of the log.'),
  consistency: z
    .object({ from: z.number().int(), path: Path })
    .nullable()
    .describe('That the log of `from` seals is the beginning of this one (RFC 6962, section 2.1.2). Null without `from`.'),
})

export const LogQuery = z.strictObject({
  from: z.coerce
    .number()
    .int()
    .positive()
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('The size of a head that you have seen.'),
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
        .describe('When it was retired. It signs nothing afterwards; its earlier signatures stay valid.'),
    }),
  ),
})
