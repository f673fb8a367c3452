import { z } from 'zod'
import { TimeOut } from '../../http/wire.ts'

const Digest = z.string().meta({ description: 'SHA-256, 64 hex digits.' })
const Path = z.array(Digest).meta({ description: 'RFC 6962: the audit path, from the leaf to the root.' })

export const LogHead = z
  .object({
    size: z.number().int().meta({ description: 'How many seals the log has.' }),
    root: Digest.meta({ description: 'The Merkle root over them.' }),
    sealed_at: TimeOut.meta({ description: 'When it was sealed.' }),
    jws: z.string().meta({
      description:
        'A detached JWS (EdDSA, typ `audit-log-head`) over the RFC 8785 form of {issuer, root, sealed_at, size} by a key of /.well-known/jwks.json.',
    }),
  })
  .meta({ id: 'AuditLogHead' })
export type LogHead = z.output<typeof LogHead>

export const RowProof = z
  .object({
    line: z.string().meta({
      description:
        'The audit row as it was sealed: its columns as a JSON array. What changed, the address and the browser are in it as one hash.',
    }),
    index: z.number().int(),
    rows: z.number().int().meta({ description: 'How many rows the seal has; `index` is the place of this one among them.' }),
    path: Path,
    seal: z.number().int().meta({ description: 'The place of the seal in the log, from 0.' }),
    rows_root: Digest.meta({ description: 'The root over the seal’s rows: a leaf of the log.' }),
    seal_path: Path,
  })
  .meta({ id: 'AuditRowProof' })
export type RowProof = z.output<typeof RowProof>

export const SealedLog = z
  .object({
    head: LogHead.meta({ description: 'The newest seal of the log.' }),
    consistency: z.object({ from: z.number().int(), path: Path }).nullable().meta({
      description: 'That the log of `from` seals is the beginning of this one (RFC 6962, section 2.1.2). Null without `from`.',
    }),
  })
  .meta({ id: 'SealedLog' })

export const LogQuery = z.strictObject({
  from: z.coerce
    .number()
    .int()
    .positive()
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: 'The size of a head that you have seen.' }),
})

export const KeySet = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        alg: z.literal('EdDSA'),
        use: z.literal('sig'),
        kid: z.string(),
        x: z.string(),
        iat: z.number().int().meta({ description: 'When the key was first used, in seconds since 1970.' }),
        exp: z
          .number()
          .int()
          .optional()
          .meta({ description: 'When it was retired. It signs nothing afterwards; its earlier signatures stay valid.' }),
      }),
    ),
  })
  .meta({ id: 'JsonWebKeySet' })
