import type { z } from 'zod'
import type { ReceiptKeys } from '../../auth/receipt-keys.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/client.ts'
import { type LogHead, proveConsistency, type RowProof, readLogHead } from '../../events/seal.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { isoTime } from '../../lib/clock.ts'
import { Refusal } from '../../lib/errors.ts'
import type { KeySet, RowProof as RowProofOut, LogHead as SignedHead } from './schema.ts'
import type { SigningKeyRecord } from './signing-keys.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
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
const headStatement = (issuer: string, { size, root, sealedAt }: LogHead) => ({
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

/** The newest head with our signature; null while nothing is sealed. */
export const signHead = (config: Config, receiptKeys: ReceiptKeys, head: LogHead | null): SignedHead | null => {
  if (!head) return null
  const { issuer, ...stated } = headStatement(config.publicUrl, head)
  return { ...stated, jws: receiptKeys.sign(canonicalJson({ issuer, ...stated }), 'audit-log-head') }
}

/** A detached JWS over a document without its `jws`. */
export const signDocument = (receiptKeys: ReceiptKeys, document: object, type: string): string =>
  receiptKeys.sign(canonicalJson(document), type)

/** The head of the sealed log; with `from` also that the log of that many seals is its beginning. */
export const readSealedLog = async (db: Db, config: Config, receiptKeys: ReceiptKeys, from: number | undefined) => {
  const head = await readLogHead(db)
  const signed = signHead(config, receiptKeys, head)
  if (!head || !signed)
    throw new Refusal('not_found', { message: 'Nothing is sealed yet. The first seal follows within a minute.' })
  if (from !== undefined && from > head.size)
    throw new Refusal('invalid_request', { message: `The log has ${head.size} seals, so no head of ${from} seals was signed.` })
  const consistency = from === undefined ? null : { from, path: (await proveConsistency(db, from, head.size)).map(hex) }
  return { head: signed, consistency }
}
