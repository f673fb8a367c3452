import { canonicalJson } from '../../src/lib/canonical.ts'
import { fromBase64Url, toBase64Url, utf8 } from '../bytes.ts'
import { bad, type Finding, ok } from '../finding.ts'
import type { PublishedKey } from '../receipt.ts'

/** Key times are whole seconds, and a key may be recorded shortly after it first signed. */
const leewaySeconds = 300

const headerOf = (text: string): Record<string, unknown> | undefined => {
  const bytes = fromBase64Url(text)
  try {
    const header: unknown = bytes && JSON.parse(new TextDecoder().decode(bytes))
    return typeof header === 'object' && header !== null ? { ...header } : undefined
  } catch {
    return undefined
  }
}

type Bytes = Uint8Array<ArrayBuffer>

const verifies = async (key: PublishedKey, signature: Bytes, signed: Bytes): Promise<boolean> => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.x ?? '' }
  const imported = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', imported, signature, signed)
}

/** `at`: the document's time. `signedLater`: the document can be signed again at any time after `at`, even with a newer key. */
type SignedDocument = { jws: unknown; document: unknown; type: string; at: string; signedLater?: true }

/** Checks a detached JWS (RFC 7515, appendix F) over the RFC 8785 form of a document, signed at `at` with a published key. */
export const checkJws = async (
  check: string,
  { jws, document, type, at, signedLater }: SignedDocument,
  keys: readonly PublishedKey[],
): Promise<Finding> => {
  const [first = '', payload, last = '', ...more] = typeof jws === 'string' ? jws.split('.') : []
  const header = headerOf(first)
  const signature = fromBase64Url(last)
  if (!header || payload !== '' || !signature || more.length > 0) return bad(check, 'it has no signature of the right form')
  if (header.alg !== 'EdDSA' || header.crit !== undefined)
    return bad(check, `it is signed by ${String(header.alg)}, and receipts are signed by EdDSA`)
  if (header.typ !== type) return bad(check, `the signature is over a document of another kind (${String(header.typ)})`)
  const key = keys.find(({ kid, kty, crv }) => kid === header.kid && kty === 'OKP' && crv === 'Ed25519')
  if (!key) return bad(check, `its key "${String(header.kid)}" is not among the published keys`)
  const seconds = Date.parse(at) / 1000
  if (!Number.isFinite(seconds)) return bad(check, 'it does not say when it was issued')
  if (!signedLater && key.iat !== undefined && seconds < key.iat - leewaySeconds)
    return bad(check, `its key "${key.kid}" did not exist at ${at}`)
  if (key.exp !== undefined && seconds > key.exp + leewaySeconds)
    return bad(check, `its key "${key.kid}" was retired before ${at}`)
  const signed = utf8(`${first}.${toBase64Url(utf8(canonicalJson(document)))}`)
  const good = await verifies(key, signature, signed).catch(() => false)
  return good
    ? ok(check, `signed by the key "${key.kid}"${signedLater ? ', of' : ' at'} ${at}`)
    : bad(check, 'the signature is not over this text: something was changed')
}
