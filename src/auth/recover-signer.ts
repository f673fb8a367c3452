import { createRequire } from 'node:module'
import { keccak_256 } from '@noble/hashes/sha3'
import { type Address, checksummed } from '../lib/wallet-name.ts'

// Replaces viem for key wallets. viem is loaded only for queries to a chain (contract-wallet.ts).

const require = createRequire(import.meta.url)

export type RecoverKey = (signature: Uint8Array, recovery: number, hash: Uint8Array) => Uint8Array

/**
 * libsecp256k1 as native code, much faster than JavaScript (docs/security.md). Loads the binding directly, because the
 * package would fall back to `elliptic`. Undefined if there is no binding: `portableRecovery` then takes its place.
 */
export const nativeRecovery = (): RecoverKey | undefined => {
  try {
    const native: typeof import('secp256k1') = require('secp256k1/bindings.js')
    return (signature, recovery, hash) => native.ecdsaRecover(signature, recovery, hash, false)
  } catch {
    return undefined
  }
}

export const portableRecovery = (): RecoverKey => {
  const { secp256k1 }: typeof import('@noble/curves/secp256k1') = require('@noble/curves/secp256k1')
  return (signature, recovery, hash) =>
    secp256k1.Signature.fromCompact(signature).addRecoveryBit(recovery).recoverPublicKey(hash).toRawBytes(false)
}

/** Half of the order of secp256k1. A signature with a higher s has a twin with a lower one (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** `recovery`: 0 or 1 for a text's signature, whose v is 27 or 28, or 0 or 1 from some libraries. */
const parseSignature = (signature: string) => {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const v = bytes.readUInt8(64)
  const isHighS = BigInt(`0x${bytes.toString('hex', 32, 64)}`) > halfOrder
  return { compact: bytes.subarray(0, 64), v, recovery: v >= 27 ? v - 27 : v, isHighS }
}

/** Explains signature forms of some libraries that this service rejects for key wallets. Null for any other form. */
const formHint = (signature: string): string | null => {
  if (/^0x[0-9a-f]{128}$/i.test(signature)) return 'It is compact (EIP-2098, 64 bytes): send r, s and v, 65 bytes.'
  const { v, recovery = 0, isHighS } = parseSignature(signature) ?? {}
  if (recovery > 1) return `Its v is ${v}: a signature of a text (personal_sign) ends in 27 or 28.`
  return isHighS ? 'Its s is high (EIP-2): send the form with the low s.' : null
}

/** Appends an explanation to a refusal's message if the signature's form is the reason. */
export const withHint = (sentence: string, signature: string): string =>
  [sentence, formHint(signature)].filter((part) => part !== null).join(' ')

/** EIP-191, version 0x45: the hash that a wallet signs for a text message. */
const hashMessage = (message: string): Uint8Array => {
  const bytes = Buffer.from(message)
  return keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]))
}

let recoverKey: RecoverKey | undefined

/**
 * The address that signed `message` with EIP-191 `personal_sign`. Undefined if the signature is malformed or has a high s. The
 * low s excludes a signature's twin, but v has two forms and letters two cases: compare signatures by signer and text.
 */
export const recoverSigner = (message: string, signature: string): Address | undefined => {
  const parsed = parseSignature(signature)
  if (!parsed || parsed.recovery > 1 || parsed.isHighS) return undefined
  // Outside the `try`: a package that cannot be loaded is no wrong signature.
  recoverKey ??= nativeRecovery() ?? portableRecovery()
  try {
    const key = recoverKey(parsed.compact, parsed.recovery, hashMessage(message))
    return checksummed(Buffer.from(keccak_256(key.subarray(1))).toString('hex', 12))
  } catch {
    return undefined
  }
}
