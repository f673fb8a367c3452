import type { ReceiptKeys } from '../../auth/receipt-keys.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/client.ts'
import { type LogHead, proveConsistency, readLogHead } from '../../events/seal-proof.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { Refusal } from '../../lib/errors.ts'
import { headStatement, hex } from './present.ts'
import type { LogHead as SignedHead } from './schema.ts'

/** The newest head with our signature; null while nothing is sealed. */
export const signHead = (config: Config, receiptKeys: ReceiptKeys, head: LogHead | null): SignedHead | null => {
  if (!head) return null
  const { issuer, ...stated } = headStatement(config.publicUrl, head)
  return { ...stated, jws: receiptKeys.signHead(canonicalJson({ issuer, ...stated })) }
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
