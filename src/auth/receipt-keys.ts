import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Key, KeyRing } from '../lib/key-ring.ts'

/** The PKCS #8 prefix of a 32-byte Ed25519 seed (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const privateKeyOf = ({ bytes }: Key): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, bytes]), format: 'der', type: 'pkcs8' })

const publicKeyOf = (key: KeyObject): Buffer => Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url')

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** Ed25519 keys that sign receipts and heads of the sealed log. `publicKey`: 32 bytes (RFC 8032). */
export const createReceiptKeys = (ring: KeyRing) => {
  const signer = privateKeyOf(ring.current)
  const all = [...ring.all.values()].map((key) => ({ id: key.id, publicKey: publicKeyOf(privateKeyOf(key)) }))
  return {
    current: { id: ring.current.id, publicKey: publicKeyOf(signer) },
    all,
    /** A detached JWS (RFC 7515, appendix F). `type` prevents a signature of one kind of document from being used for another. */
    sign: (payload: string, type: string): string => {
      // Uses Node's own crypto: WebCrypto takes twice as long to sign a receipt.
      const header = base64url(JSON.stringify({ alg: 'EdDSA', kid: ring.current.id, typ: type }))
      return `${header}..${sign(null, Buffer.from(`${header}.${base64url(payload)}`), signer).toString('base64url')}`
    },
  }
}
export type ReceiptKeys = ReturnType<typeof createReceiptKeys>
