import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Key, KeyRing } from '../lib/key-ring.ts'

export type Sealed = { ciphertext: Buffer; keyId: string }

const nonceBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

const associatedData = (context: readonly string[]) => Buffer.from(JSON.stringify(context))

/** AES-256-GCM with a key ring. The context (row id, workspace …) is authenticated: a ciphertext moved to another row fails. */
export const createVault = (keys: KeyRing) => {
  // Imported once, because importing a raw key takes Node ten times as long as encrypting a short text.
  const imported = new Map([...keys.all.values()].map(({ id, bytes }) => [id, createSecretKey(bytes)]))
  const keyOf = (id: string): KeyObject => {
    const key = imported.get(id)
    if (!key) throw new Error('sealed under a key that is not in the ring')
    return key
  }
  /** Throws if the key is unknown, the ciphertext was truncated or altered, or the context differs. */
  const openBytes = ({ ciphertext, keyId }: Sealed, context: readonly string[]): Buffer => {
    const key = keyOf(keyId)
    if (ciphertext.length < nonceBytes + tagBytes) throw new Error('the sealed value is truncated')
    const decipher = createDecipheriv(algorithm, key, ciphertext.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(associatedData(context)).setAuthTag(ciphertext.subarray(-tagBytes))
    return Buffer.concat([decipher.update(ciphertext.subarray(nonceBytes, -tagBytes)), decipher.final()])
  }
  return {
    currentKeyId: keys.current.id,
    seal: (plaintext: string | Buffer, context: readonly string[]): Sealed => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, keyOf(keys.current.id), nonce, { authTagLength: tagBytes })
      cipher.setAAD(associatedData(context))
      const body = Buffer.concat([
        typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext),
        cipher.final(),
      ])
      return { ciphertext: Buffer.concat([nonce, body, cipher.getAuthTag()]), keyId: keys.current.id }
    },
    openBytes,
    open: (sealed: Sealed, context: readonly string[]): string => openBytes(sealed, context).toString('utf8'),
  }
}
export type Vault = ReturnType<typeof createVault>

/** Derives a separate key from TOKEN_SECRETS for each purpose and ring entry, so that no two uses share a key. */
export const createDerivations = (keys: KeyRing) => {
  const subkeys = new Map<string, KeyObject>()
  const subkey = ({ id, bytes }: Key, purpose: string): KeyObject => {
    const name = `${id}:${purpose}`
    const known = subkeys.get(name)
    if (known) return known
    const derived = createSecretKey(Buffer.from(hkdfSync('sha256', bytes, '', `payments-service/${purpose}`, 32)))
    subkeys.set(name, derived)
    return derived
  }
  const macWith = (key: Key, purpose: string, message: string): Buffer =>
    createHmac('sha256', subkey(key, purpose)).update(message).digest()
  return {
    currentKeyId: keys.current.id,
    mac: (purpose: string, message: string): Buffer => macWith(keys.current, purpose, message),
    macUnder: (keyId: string, purpose: string, message: string): Buffer | undefined => {
      const key = keys.all.get(keyId)
      return key && macWith(key, purpose, message)
    },
    /** The MAC under every key of the ring, current key first, to find values from before a rotation. */
    macs: (purpose: string, message: string) =>
      [...keys.all.values()].map((key) => ({ keyId: key.id, mac: macWith(key, purpose, message) })),
  }
}
export type Derivations = ReturnType<typeof createDerivations>
